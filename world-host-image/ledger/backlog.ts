/**
 * Entries of the request ledger that the control plane does not have yet, oldest first. It is bounded:
 * the control plane keeps no more of a session either, so what makes room here would have to there.
 *
 * Deliveries of webhooks make no room for anything: nobody has received them yet. Who makes them looks at
 * how much of them waits (`pinnedBytes`), and makes no more when it is too much.
 */
import { limits } from '#domain/limits.ts';

/** An entry as JSON text, by its number. */
type Waiting = { id: number; json: string };

/** Beyond these a text takes two bytes for each of its characters, all of them. */
const wideCharacter = /[\u0100-\uffff]/;

/** What a text takes of the heap. */
const bytesOf = (json: string): number =>
  wideCharacter.test(json) ? 2 * json.length : json.length;

export type Backlog = {
  /** Puts an entry at the end. One that is pinned stays until it is removed by its number. */
  add(id: number, json: string, isPinned?: boolean): void;
  /** The first entries, at most so many and, but for the first, so many characters. */
  first(most: { entries: number; chars: number }): Waiting[];
  /** The newest entry. */
  last(): Waiting | undefined;
  /** Lets go of the entries up to this number. */
  removeTo(id: number): void;
  size(): number;
  /** Bytes of the pinned entries. */
  pinnedBytes(): number;
  /** Has this called whenever a pinned entry was put at the end: somebody may wait for it. */
  onPinned(listener: () => void): void;
};

const defaultLimits: { entries: number; bytes: number } = {
  entries: limits.sessionRequests,
  bytes: limits.sessionRequestBytes,
};

/** Removed entries are let go of in one go when there are so many at the beginning. */
const sweepAt = 1_000;

type Slot = { entry: Waiting; bytes: number; isPinned: boolean };

/** An empty backlog. */
export const createBacklog = (most = defaultLimits): Backlog => {
  /** In the order of their numbers; one that made room has left its place empty. */
  let slots: (Slot | undefined)[] = [];
  let begin = 0;
  /** Before it there is none that could make room. */
  let oldestPlain = 0;
  const plain = { entries: 0, bytes: 0 };
  const pinned = { entries: 0, bytes: 0 };
  let tellPinned = (): void => undefined;

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

  const makeRoom = (): void => {
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
      tellPinned = listener;
    },
    last: () => slots.findLast((slot) => slot !== undefined)?.entry,
    add(id, json, isPinned = false) {
      const slot = { entry: { id, json }, bytes: bytesOf(json), isPinned };
      slots.push(slot);
      const sum = isPinned ? pinned : plain;
      sum.entries += 1;
      sum.bytes += slot.bytes;
      makeRoom();
      if (isPinned) tellPinned();
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
