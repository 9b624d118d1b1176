/**
 * Shows times: a time of the service as its age, a time of a world as date and time. The tooltip shows what is left out.
 */
import { worldNow } from '../world/clock.ts';
import { showAbsolute, showExact, showRecent, showRelative } from '../world/times.ts';

/**
 * Properties of a time. If `isDated` is true, older times are shown with their day, for lists in which times are
 * compared.
 */
type TimeProps = { time: Date; isDated?: boolean };

export const Time = ({ time, isDated = false }: TimeProps) => (
  <time dateTime={time.toISOString()} title={showExact(time)}>
    {isDated ? showRecent(time) : showRelative(time)}
  </time>
);

/** Shows a time of a row. The tooltip shows how far it is from the world's current time. */
export const WorldTime = ({ time }: { time: Date }) => (
  <time
    dateTime={time.toISOString()}
    title={`${showRelative(time, worldNow())} · ${showExact(time)}`}
  >
    {showAbsolute(time)}
  </time>
);
