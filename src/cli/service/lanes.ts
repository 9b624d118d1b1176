/**
 * Keyed queue: items of one key (a lane) are worked on in order, one at a time; several keys run concurrently. Callers
 * wait for space before they add, so that the number of held items is bounded.
 */

export type Lanes<Item> = {
  /** Adds an item to the end of a lane. */
  add(lane: string, item: Item): void;
  /** Resolves when fewer items are held than the limit. Rejects with the error of an item's work. */
  room(): Promise<void>;
  /** Resolves when all items are done. Rejects with the error of an item's work. */
  drained(): Promise<void>;
};

export type LanesOptions<Item> = {
  atOnce: number;
  /** Most items held, including those being worked on. */
  most: number;
  work(item: Item): Promise<void>;
};

/** Creates queues without an item. */
export const createLanes = <Item>({ atOnce, most, work }: LanesOptions<Item>): Lanes<Item> => {
  const lanes = new Map<string, Item[]>();
  /** Lanes that have an item and are not being worked on, in the order in which they became ready. */
  const ready: string[] = [];
  let underWay = 0;
  let held = 0;
  let failure: { error: unknown } | undefined;
  let waiting = Promise.withResolvers<void>();

  const tell = (): void => {
    waiting.resolve();
    waiting = Promise.withResolvers<void>();
  };

  const run = async (lane: string): Promise<void> => {
    const [item] = lanes.get(lane) ?? [];
    try {
      if (item !== undefined && failure === undefined) await work(item);
    } catch (error) {
      failure ??= { error };
    }
    const rest = lanes.get(lane) ?? [];
    rest.shift();
    if (rest.length > 0) ready.push(lane);
    else lanes.delete(lane);
    held -= 1;
    underWay -= 1;
    tell();
    begin();
  };

  const begin = (): void => {
    while (underWay < atOnce) {
      const lane = ready.shift();
      if (lane === undefined) return;
      underWay += 1;
      void run(lane);
    }
  };

  const below = async (count: number): Promise<void> => {
    while (held >= count && failure === undefined) await waiting.promise;
    if (failure !== undefined) throw failure.error;
  };

  return {
    add(lane, item) {
      const items = lanes.get(lane);
      held += 1;
      if (items === undefined) {
        lanes.set(lane, [item]);
        ready.push(lane);
      } else items.push(item);
      begin();
    },
    room: () => below(most),
    drained: () => below(1),
  };
};
