/**
 * Cache with a size limit, fair between owners. When it is full, the owner whose entries take most bytes loses its
 * least recently used entry. So one project cannot evict another project's entries, however many it requests: an owner
 * with less than an equal share never has the most bytes.
 */

export type FairEntry<Value> = { key: string; owner: string; bytes: number; value: Value };

export type FairCache<Value> = {
  /** Returns the value of a key and marks the entry as used; undefined if the key is not cached. */
  get(key: string): Value | undefined;
  /** Caches a value, unless the value alone takes more than half of the cache. */
  keep(entry: FairEntry<Value>): void;
  bytes(): number;
};

type Holdings<Value> = { bytes: number; entries: Map<string, FairEntry<Value>> };

/** Creates an empty cache of at most `mostBytes` bytes. */
export const createFairCache = <Value>(mostBytes: number): FairCache<Value> => {
  const ownerOf = new Map<string, string>();
  const holdings = new Map<string, Holdings<Value>>();
  let total = 0;

  const drop = ({ key, owner, bytes }: FairEntry<Value>): void => {
    const held = holdings.get(owner);
    if (held?.entries.delete(key) !== true) return;
    ownerOf.delete(key);
    held.bytes -= bytes;
    total -= bytes;
    if (held.entries.size === 0) holdings.delete(owner);
  };

  const find = (key: string): FairEntry<Value> | undefined =>
    holdings.get(ownerOf.get(key) ?? '')?.entries.get(key);

  const dropOne = (): void => {
    let largest: Holdings<Value> | undefined;
    for (const held of holdings.values()) {
      if (largest === undefined || held.bytes > largest.bytes) largest = held;
    }
    const [oldest] = largest?.entries.values() ?? [];
    if (oldest !== undefined) drop(oldest);
  };

  const put = (entry: FairEntry<Value>): void => {
    const held = holdings.get(entry.owner) ?? { bytes: 0, entries: new Map() };
    holdings.set(entry.owner, held);
    held.entries.set(entry.key, entry);
    held.bytes += entry.bytes;
    total += entry.bytes;
    ownerOf.set(entry.key, entry.owner);
  };

  return {
    get(key) {
      const entry = find(key);
      const entries = holdings.get(entry?.owner ?? '')?.entries;
      if (entry === undefined || entries === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    keep(entry) {
      const before = find(entry.key);
      if (before !== undefined) drop(before);
      if (entry.bytes > mostBytes / 2) return;
      put(entry);
      while (total > mostBytes) dropOne();
    },
    bytes: () => total,
  };
};
