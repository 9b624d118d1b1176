/**
 * Counts the timers that are still to fire. Node reports those that keep the process alive; the others are recorded
 * here when they are unref'ed. This file is loaded before any user code, which may replace the functions that it is
 * made from.
 */

/** Timer of Node's, of either kind. */
type Timer = { unref(): Timer; _destroyed: boolean };

const activeResources = process.getActiveResourcesInfo.bind(process);
const { apply } = Reflect;
const unrefed = new Set<Timer>();

/** Records timers of a kind when they are unref'ed; `sample` is a timer of that kind. */
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

/** Returns the active resources of the process, named as by `process.getActiveResourcesInfo`. */
export const activeNames = (): string[] => activeResources();

/** Returns the number of timers, both among the active resources and unref'ed. */
export const countTimers = (active: readonly string[]): number => {
  let count = 0;
  for (const name of active) if (name === 'Timeout' || name === 'Immediate') count += 1;
  for (const timer of unrefed) if (timer._destroyed) unrefed.delete(timer);
  return count + unrefed.size;
};
