/** Counts occurrences within a recent time window. */
export type RecentCount = {
  /** Records one occurrence now. */
  add(): void;
  count(): number;
};

/** Maximum number of occurrences in memory, and therefore the largest count. */
const mostCounted = 1_024;

/** Creates a counter over the last `withinMs` milliseconds; `now` returns milliseconds. */
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
