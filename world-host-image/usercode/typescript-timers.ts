/**
 * How many timers are to go off. Node tells of those that would keep the process alive; the others are noted
 * here when they are let go of. It is loaded before any user code, which may put functions of its own in
 * the places that this was made from.
 */

/** A timer of Node's, of either kind. */
type Timer = { unref(): Timer; _destroyed: boolean };

const activeResources = process.getActiveResourcesInfo.bind(process);
const { apply } = Reflect;
const unrefed = new Set<Timer>();

/** Notes timers of a kind as they are let go of, of which `sample` is one. */
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

/** What the process has under way, as `process.getActiveResourcesInfo` says it. */
export const activeNames = (): string[] => activeResources();

/** How many timers there are, among what is under way and beside it. */
export const countTimers = (active: readonly string[]): number => {
  let count = 0;
  for (const name of active) if (name === 'Timeout' || name === 'Immediate') count += 1;
  for (const timer of unrefed) if (timer._destroyed) unrefed.delete(timer);
  return count + unrefed.size;
};
