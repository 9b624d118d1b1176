/** A time: how long ago it was, and exactly when for whoever points at it. */
import { showExact, showRecent, showRelative } from '../world/times.ts';

/** `isDated` tells the day of what is longer ago, where times are compared with one another. */
type TimeProps = { time: Date; isDated?: boolean };

export const Time = ({ time, isDated = false }: TimeProps) => (
  <time dateTime={time.toISOString()} title={showExact(time)}>
    {isDated ? showRecent(time) : showRelative(time)}
  </time>
);
