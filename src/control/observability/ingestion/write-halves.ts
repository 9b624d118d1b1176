/**
 * Writes a batch. If the write fails, retries each half of the batch, then the halves of a half that failed, down to
 * single items.
 */
import { overloaded } from './overload.ts';

export type Failure = { error: unknown };

type BatchWrite<Item> = {
  /** Writes items; `isRetry` is true if they are part of a batch that failed. */
  write(items: readonly Item[], isRetry: boolean): Promise<void>;
  /**
   * Returns true if the failure may be caused by single items, so that the rest of the batch may succeed without them.
   */
  concernsItems(error: unknown): boolean;
  /**
   * Time for which the parts of a failed batch are retried, in milliseconds; the items that remain are then refused.
   */
  retryMs: number;
};

/**
 * Writes items and returns the failure of each item; undefined for an item that was written. For a part of a failed
 * batch, `until` is the time at which retries end.
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
