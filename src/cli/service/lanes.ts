/**
 * Work in lanes: what is in one lane is done in its order, one after the other; lanes are side by side, so many at once.
 * Who adds waits for room first, so that what is held stays bounded.
 */

export type Lanes<Item> = {
  /** Puts an item at the end of a lane. */
  add(lane: string, item: Item): void;
  /** Resolves when less is held than may be. Throws what the work of an item threw. */
  room(): Promise<void>;
  /** Resolves when all is done. Throws likewise. */
  drained(): Promise<void>;
};

export type LanesOptions<Item> = {
  atOnce: number;
  /** Items held, those under way among them. */
  most: number;
  work(item: Item): Promise<void>;
};

/** Lanes without an item. */
export const createLanes = <Item>({ atOnce, most, work }: LanesOptions<Item>): Lanes<Item> => {
  const lanes = new Map<string, Item[]>();
  /** Lanes that have an item and are not under way, in the order in which they came to be so. */
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
