/**
 * Cache of one session's answers, bounded in bytes. The connector enables it per route (`keep_answers`) by declaring
 * that answers depend only on the request and the rows. A repeated request gets the cached answer, without running
 * code, if two things are unchanged: the rows of each entity that the code read, and the headers that it read.
 * Versions of entities only rise, so a rollback, a reset and a seed also invalidate.
 *
 * To free memory, the cache first drops the encoded bytes of long answers and keeps their text. The text is then
 * encoded each time it is sent. After that the cache evicts the least recently used answers. A long answer that is
 * requested repeatedly gets its bytes back, in place of answers that were never requested again.
 */
import type { RouteContract } from '#language/contract.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { RowVersions } from '#store/write/change-log.ts';
import type { Arguments } from '../../routes/filter-values.ts';
import type { Seen } from '../../session/seen.ts';
import type { HandlerRequest } from '../../usercode/run.ts';
import type { ApiAnswer, MadeOnce } from './answer.ts';

/** Answer, and the headers that `before` set for it. */
export type KeptAnswer = { answer: ApiAnswer; common: Record<string, string> };

/** Parts of a request that form the key of its answer. Headers are compared separately. */
export type KeptRequest = {
  route: Pick<RouteContract, 'operation'>;
  args: Arguments;
  request: Pick<HandlerRequest, 'method' | 'path' | 'headers' | 'mediaType'>;
};

export type KeptAnswers = {
  find(request: KeptRequest): KeptAnswer | undefined;
  /** Caches the answer of a run that made these reads, unless it is valid for this run only or too large. */
  keep(request: KeptRequest, answered: KeptAnswer, seen: Seen): void;
  /** Returns the size of the cache, as it is counted against the limit. */
  bytes(): number;
};

type Entry = {
  kept: KeptAnswer;
  /** Headers that the code read, as JSON; in their original order if it iterated over all of them. */
  headers: string;
  /** Names of these headers; `all` if the code iterated over all of them. */
  names: readonly string[] | 'all';
  versions: [entity: string, version: number][];
  /** Version of the whole store when `versions` were last found current. */
  latest: number;
  bytes: number;
  /** Values derived from the body. */
  once: MadeOnce;
  /** Bytes of a long body when encoded; 0 for a short one. */
  served: number;
  /** Number of requests that this entry answered. */
  asked: number;
};

export type KeptLimits = { bytes: number; answerBytes: number; variants: number };

const defaultLimits: KeptLimits = {
  bytes: 8 * 1024 * 1024,
  answerBytes: 2 * 1024 * 1024,
  /** Maximum number of answers to one request that differ by headers. */
  variants: 8,
};

/** Approximate overhead of an entry beside its texts, in bytes. */
const entryBytes = 1_024;

const keyOf = ({ route, args, request }: KeptRequest): string =>
  JSON.stringify([route.operation, request.method, request.path, request.mediaType, args]);

/** Length above which the bytes of a body are dropped before any whole answer is evicted, in characters. */
const longestShort = 64 * 1024;

/**
 * Returns the bytes that a body occupies as text and as encoded bytes. V8 stores ASCII text, the usual case, with one
 * byte a character, and other text with up to two.
 */
const bytesOfBody = (body: string): { text: number; served: number } => {
  const served = Buffer.byteLength(body);
  return { text: served === body.length ? served : 2 * body.length, served };
};

/** Returns the bytes that an entry occupies beside its body. */
const bytesOf = (key: string, asked: string, { answer, common }: KeptAnswer): number => {
  const headers = JSON.stringify([answer.headers, common]).length + 2 * asked.length;
  return entryBytes + key.length + headers;
};

const versionsOf = (
  versions: RowVersions,
  entities: ReadonlySet<string>,
): Entry['versions'] | undefined => {
  try {
    return [...entities].map((entity) => [entity, versions.version(entity)]);
  } catch (error) {
    // The worker reports the entities and may name one that does not exist.
    if (error instanceof StoreRefusal) return undefined;
    throw error;
  }
};

const headersOf = (
  headers: Readonly<Record<string, string>>,
  names: Entry['names'],
): Entry['headers'] =>
  JSON.stringify(
    names === 'all'
      ? Object.entries(headers)
      : names.map((name) => [name, Object.hasOwn(headers, name) ? headers[name] : null]),
  );

/** Creates an empty cache. `versions` are those of the session's rows. */
export const createKeptAnswers = (
  versions: RowVersions,
  limits: KeptLimits = defaultLimits,
): KeptAnswers => {
  const byKey = new Map<string, Entry[]>();
  /** Entries with a long body whose bytes are cached, too; the least recently used first. */
  const asBytes = new Set<Entry>();
  let total = 0;

  const stands = (entry: Entry): boolean => {
    const latest = versions.latest();
    if (entry.latest === latest) return true;
    if (entry.versions.some(([entity, version]) => versions.version(entity) !== version)) {
      return false;
    }
    entry.latest = latest;
    return true;
  };

  /** Moves the entries of a request to the end of the eviction order. */
  const place = (key: string, entries: Entry[]): void => {
    byKey.delete(key);
    if (entries.length > 0) byKey.set(key, entries);
  };

  const forget = (entry: Entry): void => {
    total -= entry.bytes;
    asBytes.delete(entry);
  };

  const dropAll = (key: string, entries: readonly Entry[]): void => {
    for (const entry of entries) forget(entry);
    byKey.delete(key);
  };

  const addBytes = (entry: Entry, served: number): void => {
    entry.bytes += served;
    total += served;
  };

  const makeRoom = (): void => {
    for (const entry of asBytes) {
      if (total <= limits.bytes) return;
      addBytes(entry, -entry.served);
      entry.once.isTextAlone = true;
      delete entry.once.served;
      asBytes.delete(entry);
    }
    for (const [key, entries] of byKey) {
      if (total <= limits.bytes) return;
      dropAll(key, entries);
    }
  };

  /**
   * Evicts, from the least recently used on, answers that were never requested again, and stops at the first that was.
   * Returns true if the bytes then fit.
   */
  const hasRoomFor = (bytes: number): boolean => {
    for (const [key, entries] of byKey) {
      if (total + bytes <= limits.bytes || entries.some(({ asked }) => asked > 0)) break;
      dropAll(key, entries);
    }
    return total + bytes <= limits.bytes;
  };

  /** Counts another request for an entry, and restores the bytes of a long body if they fit. */
  const renew = (entry: Entry): void => {
    entry.asked += 1;
    if (entry.served === 0) return;
    const wasAsBytes = asBytes.delete(entry);
    if (!wasAsBytes) {
      // Only from the second repeat: by then every entry that is in regular use has been requested again, too, and is
      // not evicted.
      if (entry.asked < 2 || !hasRoomFor(entry.served)) return;
      addBytes(entry, entry.served);
      delete entry.once.isTextAlone;
    }
    asBytes.add(entry);
  };

  return {
    find(request) {
      const key = keyOf(request);
      const entries = byKey.get(key);
      const found = entries?.find(
        ({ headers, names }) => headersOf(request.request.headers, names) === headers,
      );
      if (entries === undefined || found === undefined) return undefined;
      if (stands(found)) {
        place(key, entries);
        renew(found);
        return found.kept;
      }
      forget(found);
      place(
        key,
        entries.filter((entry) => entry !== found),
      );
      return undefined;
    },
    keep(request, kept, seen) {
      const known = seen.isOnce ? undefined : versionsOf(versions, seen.entities);
      if (known === undefined) return;
      const key = keyOf(request);
      const names = seen.allHeaders ? 'all' : [...seen.headers];
      const headers = headersOf(request.request.headers, names);
      const body = kept.answer.body ?? '';
      const { text, served: all } = bytesOfBody(body);
      const served = body.length > longestShort ? all : 0;
      const bytes = bytesOf(key, headers, kept) + text + all;
      if (bytes - served > limits.answerBytes) return;
      const once: MadeOnce = {};
      const entry: Entry = {
        kept: { ...kept, answer: { ...kept.answer, once } },
        headers,
        names,
        versions: known,
        latest: versions.latest(),
        bytes,
        once,
        served,
        asked: 0,
      };
      if (served > 0) asBytes.add(entry);
      const entries = [entry, ...(byKey.get(key) ?? [])];
      const left = entries.splice(limits.variants);
      total += bytes;
      for (const each of left) forget(each);
      place(key, entries);
      makeRoom();
    },
    bytes: () => total,
  };
};
