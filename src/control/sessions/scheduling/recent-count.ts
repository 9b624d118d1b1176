/** Counts how often something happened lately. */
export type RecentCount = {
  /** It happens now. */
  add(): void;
  count(): number;
};

/** Times that are kept; more than that are not told apart. */
const mostCounted = 1_024;

/** Counts what happened within the last `withinMs`; `now` tells milliseconds. */
export const createRecentCount = (withinMs: number, now: () => number): RecentCount => {
  const times: number[] = [];
  return {
    add() {
      times.push(now());
      if (times.length > mostCounted) times.shift();
    },
    count() {
      const since = now() - withinMs;
      const first = times.findIndex((at) => at > since);
      times.splice(0, first === -1 ? times.length : first);
      return times.length;
    },
  };
};
