/** Times: those of the service as their age, those of a world as date and time. The rest is in the tooltip. */
import { worldNow } from '../world/clock.ts';
import { showAbsolute, showExact, showRecent, showRelative } from '../world/times.ts';

/** Properties of a time. `isDated` shows the day of older times, for lists in which times are compared. */
type TimeProps = { time: Date; isDated?: boolean };

export const Time = ({ time, isDated = false }: TimeProps) => (
  <time dateTime={time.toISOString()} title={showExact(time)}>
    {isDated ? showRecent(time) : showRelative(time)}
  </time>
);

/** Shows a time of a row, and in the tooltip its distance from the world's present. */
export const WorldTime = ({ time }: { time: Date }) => (
  <time
    dateTime={time.toISOString()}
    title={`${showRelative(time, worldNow())} · ${showExact(time)}`}
  >
    {showAbsolute(time)}
  </time>
);
