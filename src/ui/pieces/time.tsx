/** Times: of our own as how long ago they were, of a world as when; the rest is said where one points. */
import { worldNow } from '../world/clock.ts';
import { showAbsolute, showExact, showRecent, showRelative } from '../world/times.ts';

/** `isDated` tells the day of what is longer ago, where times are compared with one another. */
type TimeProps = { time: Date; isDated?: boolean };

export const Time = ({ time, isDated = false }: TimeProps) => (
  <time dateTime={time.toISOString()} title={showExact(time)}>
    {isDated ? showRecent(time) : showRelative(time)}
  </time>
);

/** A time of a row: when it is, and how long that is from the world's present. */
export const WorldTime = ({ time }: { time: Date }) => (
  <time
    dateTime={time.toISOString()}
    title={`${showRelative(time, worldNow())} · ${showExact(time)}`}
  >
    {showAbsolute(time)}
  </time>
);
