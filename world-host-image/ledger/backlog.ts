/**
 * Backlog of ledger entries that the control plane does not have yet, oldest first. It is bounded: over the limit, the
 * oldest entries are dropped. The control plane keeps no more entries of a session, and would drop the same ones.
 *
 * Entries of webhook deliveries are pinned: they are never dropped, because no receiver has them yet. Before it makes
 * a delivery, `deliveries.ts` checks how many bytes of them wait (`pinnedBytes`), and refuses when there are too many.
 */
import { limits } from '#domain/limits.ts';

/** Entry as JSON text, with its number. */
type Waiting = { id: number; json: string };

/** Character that makes V8 store the whole text with two bytes per character. */
const wideCharacter = /[\u0100-\uffff]/;

/** Returns the heap bytes of a text. */
const bytesOf = (json: string): number =>
  wideCharacter.test(json) ? 2 * json.length : json.length;

export type Backlog = {
  /** Appends an entry. A pinned entry stays until it is removed by its number. */
  add(id: number, json: string, isPinned?: boolean): void;
  /**
   * Returns the first entries, up to the given numbers of entries and characters. The first entry is returned whatever
   * its length.
   */
  first(most: { entries: number; chars: number }): Waiting[];
  /** Returns the newest entry. */
  last(): Waiting | undefined;
  /** Removes the entries up to this number. */
  removeTo(id: number): void;
  size(): number;
  /** Returns the bytes of the pinned entries. */
  pinnedBytes(): number;
  /** Sets a listener that is called after each pinned entry, so that it can be sent at once. */
  onPinned(listener: () => void): void;
};

const defaultLimits: { entries: number; bytes: number } = {
  entries: limits.sessionRequests,
  bytes: limits.sessionRequestBytes,
};

/** Number of empty slots at the beginning at which they are removed, all in one step. */
const sweepAt = 1_000;

type Slot = { entry: Waiting; bytes: number; isPinned: boolean };

/** Creates an empty backlog. */
export const createBacklog = (most = defaultLimits): Backlog => {
  /** Entries in the order of their numbers; the slot of a removed entry is undefined. */
  let slots: (Slot | undefined)[] = [];
  let begin = 0;
  /** Index below which no unpinned entry is left to drop. */
  let oldestPlain = 0;
  const plain = { entries: 0, bytes: 0 };
  const pinned = { entries: 0, bytes: 0 };
  let pinnedListener = (): void => undefined;

  const clear = (index: number): void => {
    const slot = slots[index];
    if (slot === undefined) return;
    const sum = slot.isPinned ? pinned : plain;
    sum.entries -= 1;
    sum.bytes -= slot.bytes;
    slots[index] = undefined;
  };

  const sweep = (): void => {
    while (begin < slots.length && slots[begin] === undefined) begin += 1;
    if (begin < sweepAt) return;
    slots = slots.slice(begin);
    oldestPlain = Math.max(0, oldestPlain - begin);
    begin = 0;
  };

  const dropOldest = (): void => {
    while (plain.entries > most.entries || plain.bytes > most.bytes) {
      if (slots[oldestPlain]?.isPinned === false) clear(oldestPlain);
      oldestPlain += 1;
    }
    sweep();
  };

  return {
    size: () => plain.entries + pinned.entries,
    pinnedBytes: () => pinned.bytes,
    onPinned(listener) {
      pinnedListener = listener;
    },
    last: () => slots.findLast((slot) => slot !== undefined)?.entry,
    add(id, json, isPinned = false) {
      const slot = { entry: { id, json }, bytes: bytesOf(json), isPinned };
      slots.push(slot);
      const sum = isPinned ? pinned : plain;
      sum.entries += 1;
      sum.bytes += slot.bytes;
      dropOldest();
      if (isPinned) pinnedListener();
    },
    first(wanted) {
      const found: Waiting[] = [];
      let chars = 0;
      for (let index = begin; index < slots.length && found.length < wanted.entries; index += 1) {
        const entry = slots[index]?.entry;
        if (entry === undefined) continue;
        chars += entry.json.length;
        if (chars > wanted.chars && found.length > 0) break;
        found.push(entry);
      }
      return found;
    },
    removeTo(id) {
      for (let index = begin; index < slots.length; index += 1) {
        if ((slots[index]?.entry.id ?? 0) > id) break;
        clear(index);
      }
      sweep();
    },
  };
};
