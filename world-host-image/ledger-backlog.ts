/**
 * Entries of the request ledger that the control plane does not have yet, oldest first. It is bounded:
 * the control plane keeps no more of a session either, so what makes room here would have to there.
 */
import { limits } from '#domain/limits.ts';

/** An entry as JSON text, by its number. */
type Waiting = { id: number; json: string };

/** Beyond these a text takes two bytes for each of its characters, all of them. */
const wideCharacter = /[\u0100-\uffff]/;

/** What a text takes of the heap. */
const bytesOf = ({ json }: Waiting): number =>
  wideCharacter.test(json) ? 2 * json.length : json.length;

export type Backlog = {
  /** Puts an entry at the end. */
  add(id: number, json: string): void;
  /** The first entries, at most so many and, but for the first, so many characters. */
  first(most: { entries: number; chars: number }): Waiting[];
  /** Lets go of the entries up to this number. */
  removeTo(id: number): void;
  size(): number;
};

const defaultLimits: { entries: number; bytes: number } = {
  entries: limits.sessionRequests,
  bytes: limits.sessionRequestBytes,
};

/** Removed entries are let go of in one go when there are so many. */
const sweepAt = 1_000;

/** An empty backlog. */
export const createBacklog = (most = defaultLimits): Backlog => {
  let entries: Waiting[] = [];
  let begin = 0;
  let bytes = 0;

  const size = (): number => entries.length - begin;
  const removeFirst = (): void => {
    const first = entries[begin];
    if (first !== undefined) bytes -= bytesOf(first);
    begin += 1;
    if (begin < sweepAt) return;
    entries = entries.slice(begin);
    begin = 0;
  };

  return {
    size,
    add(id, json) {
      const entry = { id, json };
      entries.push(entry);
      bytes += bytesOf(entry);
      while (size() > most.entries || bytes > most.bytes) removeFirst();
    },
    first(wanted) {
      let end = begin;
      let taken = 0;
      while (end < entries.length && end - begin < wanted.entries) {
        taken += entries[end]?.json.length ?? 0;
        if (taken > wanted.chars && end > begin) break;
        end += 1;
      }
      return entries.slice(begin, end);
    },
    removeTo(id) {
      while (size() > 0 && (entries[begin]?.id ?? 0) <= id) removeFirst();
    },
  };
};
