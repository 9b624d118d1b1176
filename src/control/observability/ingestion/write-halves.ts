/** Writes a batch, and retries one that failed by halves, down to the items that fail. */
import { overloaded } from './overload.ts';

export type Failure = { error: unknown };

type BatchWrite<Item> = {
  /** Writes items; `isRetry` is true for a part of a batch that failed. */
  write(items: readonly Item[], isRetry: boolean): Promise<void>;
  /** Returns true if the failure concerns single items, so that the rest of the batch may succeed without them. */
  concernsItems(error: unknown): boolean;
  /** Time for which parts are retried, in milliseconds; then the rest is refused. */
  retryMs: number;
};

/**
 * Writes items and returns the failure of each, undefined for those that were written. `until` is the end of the
 * retries, for a part of a batch.
 */
export const writeByHalves = async <Item>(
  items: readonly Item[],
  batchWrite: BatchWrite<Item>,
  until?: number,
): Promise<(Failure | undefined)[]> => {
  const { write, concernsItems, retryMs } = batchWrite;
  let failure: Failure;
  try {
    await write(items, until !== undefined);
    return items.map(() => undefined);
  } catch (error) {
    failure = { error };
  }
  if (items.length === 1 || !concernsItems(failure.error)) return items.map(() => failure);
  const end = until ?? performance.now() + retryMs;
  const middle = Math.floor(items.length / 2);
  const failures: (Failure | undefined)[] = [];
  for (const half of [items.slice(0, middle), items.slice(middle)]) {
    const isOver = performance.now() > end;
    const ofHalf = isOver
      ? half.map(() => ({ error: overloaded(failure.error) }))
      : await writeByHalves(half, batchWrite, end);
    failures.push(...ofHalf);
  }
  return failures;
};
