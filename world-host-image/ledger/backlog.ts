/**
 * Backlog of ledger entries that the control plane does not have yet, oldest first. It is limited: beyond the limit,
 * the oldest entries are dropped. The control plane has the same limit for the entries of a session, so it would drop
 * the same entries.
 *
 * Entries of webhook deliveries are pinned: they are never dropped, because their receivers have not got them yet.
 * Before it makes a delivery, `deliveries.ts` checks the size of the pinned entries (`pinnedBytes`), and refuses the
 * delivery if it is too large.
 */
import { limits } from '#domain/limits.ts';

/** Entry as JSON text, with the entry's number. */
type Waiting = { id: number; json: string };

/** Character that makes V8 store the whole text with two bytes per character. */
const wideCharacter = /[\u0100-\uffff]/;

/** Returns the number of bytes that a text occupies in the heap. */
const bytesOf = (json: string): number =>
  wideCharacter.test(json) ? 2 * json.length : json.length;

export type Backlog = {
  /** Appends an entry. A pinned entry stays until `removeTo` removes it. */
  add(id: number, json: string, isPinned?: boolean): void;
  /**
   * Returns the first entries, up to the given numbers of entries and characters. The first entry is always returned,
   * whatever its length is.
   */
  first(most: { entries: number; chars: number }): Waiting[];
  /** Returns the newest entry; undefined if the backlog is empty. */
  last(): Waiting | undefined;
  /** Removes the entries up to and including this number. */
  removeTo(id: number): void;
  size(): number;
  /** Returns the size of the pinned entries, in bytes. */
  pinnedBytes(): number;
  /** Sets a listener that is called after each pinned entry, so that the entry can be sent at once. */
  onPinned(listener: () => void): void;
};

const defaultLimits: { entries: number; bytes: number } = {
  entries: limits.sessionRequests,
  bytes: limits.sessionRequestBytes,
};

/** Number of empty slots at the start of the list. When there are this many, all of them are removed in one step. */
const sweepAt = 1_000;

type Slot = { entry: Waiting; bytes: number; isPinned: boolean };

/** Creates an empty backlog. */
export const createBacklog = (most = defaultLimits): Backlog => {
  /** Entries in the order of their numbers; the slot of a removed entry is undefined. */
  let slots: (Slot | undefined)[] = [];
  let begin = 0;
  /** Index below which there are only pinned entries and empty slots, so nothing to drop. */
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
