/** Work on many items with a bound on how many are under way together. */

/** Runs a step for each item, `most` at a time, in order of the items. The first failure is thrown. */
export const forEachAtOnce = async <Item>(
  most: number,
  items: readonly Item[],
  step: (item: Item) => Promise<void>,
): Promise<void> => {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await step(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
};
