/**
 * How many opens of a kind are under way at once where more is asked for than is borne. Opens share the processor time
 * of those that serve them: as many as ask would all be slow. So in such times no more are under way than serve what is
 * served anyway. By Little's law that is what is served in a second, times the seconds that an open takes when nobody is
 * in its way; with some room, as one that waits for a disk leaves the processor to another.
 */
import { createRecentCount } from './recent-count.ts';

export type ConcurrencyLimit = {
  /** Somebody asks to open a session. */
  ask(): void;
  /** More is asked for than is borne, from now until that is over. */
  crowd(): void;
  /** Whether more is asked for than is borne. */
  isCrowded(): boolean;
  /** Whether an open of this project is one too many: never the only one that it has under way. */
  isFull(projectId: string): boolean;
  /** One that is full was turned away; it stays crowded where as many ask as before. */
  turnAway(): void;
  /** An open of this project is under way until what it gives back is called; it was served, or came to nothing. */
  begin(projectId: string): (isServed: boolean) => void;
};

/** It is crowded until for so long nobody asked for more than is borne. */
const calmMs = 1_000;
/** What is asked for and served is counted over so long. */
const countedMs = 1_000;
/** Below this share of what is served at best, what is asked for is borne. */
const borneShare = 0.9;
/** How much longer than alone an open may take where it is crowded. */
const room = 1.5;
/** As many are under way at least. */
const leastUnderWay = 2;
/** How long an open takes alone is told by so many of them: by the quick quarter, as others came while some went on. */
const mostTimes = 64;
const quickShare = 0.25;

const quickOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * quickShare)] ?? 0;

/** Makes the pace of opens of one kind. */
export const createConcurrencyLimit = (now: () => number): ConcurrencyLimit => {
  const asked = createRecentCount(countedMs, now);
  const served = createRecentCount(countedMs, now);
  /** Milliseconds that opens took that began when no other was under way, the last ones. */
  const aloneMs: number[] = [];
  const underWay = new Map<string, number>();
  let all = 0;
  let crowdedAt: number | undefined;
  let mostServed = 0;
  let usualMs = 0;

  const isCrowded = (): boolean => crowdedAt !== undefined && now() - crowdedAt < calmMs;

  /** How many may be under way. */
  const bound = (): number => {
    const perMs = served.count() / countedMs;
    return Math.max(leastUnderWay, Math.round(room * perMs * usualMs));
  };

  const end = (projectId: string, beganAt: number, wasAlone: boolean, isServed: boolean): void => {
    all -= 1;
    const left = (underWay.get(projectId) ?? 1) - 1;
    if (left === 0) underWay.delete(projectId);
    else underWay.set(projectId, left);
    if (!isServed) return;
    served.add();
    if (isCrowded()) mostServed = Math.max(mostServed, served.count());
    else if (wasAlone) {
      aloneMs.push(now() - beganAt);
      if (aloneMs.length > mostTimes) aloneMs.shift();
    }
  };

  return {
    ask: asked.add,
    isCrowded,
    crowd() {
      if (!isCrowded()) {
        mostServed = served.count();
        usualMs = quickOf(aloneMs);
      }
      crowdedAt = now();
    },
    isFull: (projectId) => isCrowded() && underWay.has(projectId) && all >= bound(),
    turnAway() {
      if (asked.count() > borneShare * mostServed) crowdedAt = now();
    },
    begin(projectId) {
      const beganAt = now();
      const wasAlone = all === 0 && !isCrowded();
      all += 1;
      underWay.set(projectId, (underWay.get(projectId) ?? 0) + 1);
      return (isServed) => end(projectId, beganAt, wasAlone, isServed);
    },
  };
};
