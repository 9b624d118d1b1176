/**
 * Counts the timers that have not fired yet. Node reports only timers that keep the process alive; this file records
 * any other timer when its `unref` is called. This file is loaded before any user code, because user code may replace
 * the functions that it uses.
 */

/** Timer object of Node: a timeout or an immediate. */
type Timer = { unref(): Timer; _destroyed: boolean };

const activeResources = process.getActiveResourcesInfo.bind(process);
const { apply } = Reflect;
const unrefed = new Set<Timer>();

/** Records each timer of a kind when its `unref` is called; `sample` is a timer of that kind. */
const noteUnref = (sample: unknown): void => {
  const kind = Object.getPrototypeOf(sample) as Timer;
  const { unref } = kind;
  kind.unref = function (this: Timer): Timer {
    unrefed.add(this);
    return apply(unref, this, []);
  };
};

const timeout = setTimeout(() => undefined, 0);
const immediate = setImmediate(() => undefined);
noteUnref(timeout);
noteUnref(immediate);
clearTimeout(timeout);
clearImmediate(immediate);

/** Returns the names of the process's active resources, as `process.getActiveResourcesInfo` gives them. */
export const activeNames = (): string[] => activeResources();

/** Returns the number of pending timers: the timers among the active resources, and the recorded timers. */
export const countTimers = (active: readonly string[]): number => {
  let count = 0;
  for (const name of active) if (name === 'Timeout' || name === 'Immediate') count += 1;
  for (const timer of unrefed) if (timer._destroyed) unrefed.delete(timer);
  return count + unrefed.size;
};
