/**
 * Keyed queue: works on the items of one key in order, one at a time; several keys run concurrently. Before callers add
 * an item, they wait for capacity, so that the number of held items is bounded.
 */

export type KeyedQueueOptions<Item> = {
  /** Maximum number of keys whose items are worked on concurrently. */
  atOnce: number;
  /** Maximum number of held items, including those being worked on. */
  most: number;
  work(item: Item): Promise<void>;
};

export class KeyedQueue<Item> {
  readonly #options: KeyedQueueOptions<Item>;
  readonly #queues = new Map<string, Item[]>();
  /** Keys that have an item but are not being worked on, in the order in which they became ready. */
  readonly #ready: string[] = [];
  #running = 0;
  #held = 0;
  #failure: { error: unknown } | undefined;
  #change = Promise.withResolvers<void>();

  constructor(options: KeyedQueueOptions<Item>) {
    this.#options = options;
  }

  /** Adds an item to the end of a key's queue. */
  add(key: string, item: Item): void {
    const items = this.#queues.get(key);
    this.#held += 1;
    if (items === undefined) {
      this.#queues.set(key, [item]);
      this.#ready.push(key);
    } else items.push(item);
    this.#startReady();
  }

  /** Resolves when fewer items are held than the maximum. Rejects with the error of an item's work. */
  capacity(): Promise<void> {
    return this.#untilBelow(this.#options.most);
  }

  /** Resolves when all items are done. Rejects with the error of an item's work. */
  drained(): Promise<void> {
    return this.#untilBelow(1);
  }

  #startReady(): void {
    while (this.#running < this.#options.atOnce) {
      const key = this.#ready.shift();
      if (key === undefined) return;
      this.#running += 1;
      void this.#run(key);
    }
  }

  /** Works on the first item of a key. After a failure, the remaining items are removed without being worked on. */
  async #run(key: string): Promise<void> {
    const [item] = this.#queues.get(key) ?? [];
    try {
      if (item !== undefined && this.#failure === undefined) await this.#options.work(item);
    } catch (error) {
      this.#failure ??= { error };
    }
    const rest = this.#queues.get(key) ?? [];
    rest.shift();
    if (rest.length > 0) this.#ready.push(key);
    else this.#queues.delete(key);
    this.#held -= 1;
    this.#running -= 1;
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
    this.#startReady();
  }

  async #untilBelow(count: number): Promise<void> {
    while (this.#held >= count && this.#failure === undefined) await this.#change.promise;
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
