/**
 * Cache of one session's answers, limited in bytes. The connector enables it per route (`keep_answers`) by declaring
 * that answers depend only on the request and the rows. A repeated request gets the cached answer, without running
 * code, if two things are unchanged: the rows of each entity that the code read, and the headers that the code read.
 * Versions of entities only rise, so a rollback, a reset and a seed also invalidate cached answers.
 *
 * To free memory, the cache first drops the encoded bytes of long answers and keeps their text. The text is then
 * encoded each time it is sent. If more memory is needed, the cache evicts the least recently used answers. A long
 * answer that is requested repeatedly gets its encoded bytes back, in place of answers that were never requested again.
 */
import type { RouteContract } from '#language/contract.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { RowVersions } from '#store/write/change-log.ts';
import type { Arguments } from '../../routes/filter-values.ts';
import type { Seen } from '../../session/seen.ts';
import type { HandlerRequest } from '../../usercode/run.ts';
import type { ApiAnswer, MadeOnce } from './answer.ts';

/** Answer, and the headers that `before` set for it. */
export type CachedAnswer = { answer: ApiAnswer; common: Record<string, string> };

/** Parts of a request that form the key of its answer. Headers are compared separately. */
export type CacheRequest = {
  route: Pick<RouteContract, 'operation'>;
  args: Arguments;
  request: Pick<HandlerRequest, 'method' | 'path' | 'headers' | 'mediaType'>;
};

type Entry = {
  cached: CachedAnswer;
  /** Headers that the code read, as JSON; in their original order if it iterated over all of them. */
  headers: string;
  /** Names of the headers that the code read; `all` if the code iterated over all headers. */
  names: readonly string[] | 'all';
  versions: [entity: string, version: number][];
  /** Version of the whole store when the cache last checked that `versions` are current. */
  latest: number;
  bytes: number;
  /** Values derived from the body. */
  once: MadeOnce;
  /** Bytes that a long body occupies when encoded; 0 for a short body. */
  served: number;
  /** Number of requests that this entry answered. */
  asked: number;
};

export type CacheLimits = { bytes: number; answerBytes: number; variants: number };

const defaultLimits: CacheLimits = {
  bytes: 8 * 1024 * 1024,
  answerBytes: 2 * 1024 * 1024,
  /** Maximum number of cached answers to requests that differ only in the values of their headers. */
  variants: 8,
};

/** Approximate overhead of an entry besides its texts, in bytes. */
const entryBytes = 1_024;

const keyOf = ({ route, args, request }: CacheRequest): string =>
  JSON.stringify([route.operation, request.method, request.path, request.mediaType, args]);

/**
 * Maximum length of a short body, in characters. Of an answer with a longer body, the cache drops the encoded bytes
 * first, and the text later if it needs more memory.
 */
const longestShort = 64 * 1024;

/**
 * Returns the memory that a body occupies: its text, and its encoded bytes. V8 stores ASCII text, the usual case, with
 * one byte a character, and other text with up to two.
 */
const bytesOfBody = (body: string): { text: number; served: number } => {
  const served = Buffer.byteLength(body);
  return { text: served === body.length ? served : 2 * body.length, served };
};

/** Returns the bytes that an entry occupies in addition to its body. */
const bytesOf = (key: string, asked: string, { answer, common }: CachedAnswer): number => {
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

/** Cache of the answers of one session, empty at first. */
export class AnswerCache {
  readonly #versions: RowVersions;
  readonly #limits: CacheLimits;
  /** Entries by request; the least recently used request first. */
  readonly #byKey = new Map<string, Entry[]>();
  /** Entries with a long body whose encoded bytes are in memory; the least recently used entry first. */
  readonly #asBytes = new Set<Entry>();
  #total = 0;

  /** `versions` are the versions of the session's rows, by entity. */
  constructor(versions: RowVersions, limits: CacheLimits = defaultLimits) {
    this.#versions = versions;
    this.#limits = limits;
  }

  /** Returns the size that counts against the cache's limit, in bytes. */
  bytes(): number {
    return this.#total;
  }

  find(request: CacheRequest): CachedAnswer | undefined {
    const key = keyOf(request);
    const entries = this.#byKey.get(key);
    const found = entries?.find(
      ({ headers, names }) => headersOf(request.request.headers, names) === headers,
    );
    if (entries === undefined || found === undefined) return undefined;
    if (this.#isCurrent(found)) {
      this.#place(key, entries);
      this.#renew(found);
      return found.cached;
    }
    this.#forget(found);
    this.#place(
      key,
      entries.filter((entry) => entry !== found),
    );
    return undefined;
  }

  /**
   * Caches an answer. `seen` has what the code read to make it. Answers that are valid only once, or too large, are not
   * cached.
   */
  keep(request: CacheRequest, answered: CachedAnswer, seen: Seen): void {
    const key = keyOf(request);
    const entry = this.#entryOf(key, request, answered, seen);
    if (entry === undefined) return;
    if (entry.served > 0) this.#asBytes.add(entry);
    const entries = [entry, ...(this.#byKey.get(key) ?? [])];
    const evicted = entries.splice(this.#limits.variants);
    this.#total += entry.bytes;
    for (const each of evicted) this.#forget(each);
    this.#place(key, entries);
    this.#evictToLimit();
  }

  /** Makes the cache entry for an answer; undefined if the answer must not be cached. */
  #entryOf(
    key: string,
    { request }: CacheRequest,
    answered: CachedAnswer,
    seen: Seen,
  ): Entry | undefined {
    const versions = seen.isOnce ? undefined : versionsOf(this.#versions, seen.entities);
    if (versions === undefined) return undefined;
    const names = seen.allHeaders ? 'all' : [...seen.headers];
    const headers = headersOf(request.headers, names);
    const body = answered.answer.body ?? '';
    const { text, served: all } = bytesOfBody(body);
    const served = body.length > longestShort ? all : 0;
    const bytes = bytesOf(key, headers, answered) + text + all;
    if (bytes - served > this.#limits.answerBytes) return undefined;
    const once: MadeOnce = {};
    return {
      cached: { ...answered, answer: { ...answered.answer, once } },
      headers,
      names,
      versions,
      latest: this.#versions.latest(),
      bytes,
      once,
      served,
      asked: 0,
    };
  }

  /** Returns true if no entity that the code read has changed since the answer was made. */
  #isCurrent(entry: Entry): boolean {
    const latest = this.#versions.latest();
    if (entry.latest === latest) return true;
    if (entry.versions.some(([entity, version]) => this.#versions.version(entity) !== version)) {
      return false;
    }
    entry.latest = latest;
    return true;
  }

  /** Moves the entries of a request to the end of the eviction order. */
  #place(key: string, entries: Entry[]): void {
    this.#byKey.delete(key);
    if (entries.length > 0) this.#byKey.set(key, entries);
  }

  #forget(entry: Entry): void {
    this.#total -= entry.bytes;
    this.#asBytes.delete(entry);
  }

  #dropAll(key: string, entries: readonly Entry[]): void {
    for (const entry of entries) this.#forget(entry);
    this.#byKey.delete(key);
  }

  #addBytes(entry: Entry, served: number): void {
    entry.bytes += served;
    this.#total += served;
  }

  /** Drops encoded bytes of long answers first, then whole answers, until the cache is within its limit. */
  #evictToLimit(): void {
    for (const entry of this.#asBytes) {
      if (this.#total <= this.#limits.bytes) return;
      this.#addBytes(entry, -entry.served);
      entry.once.isTextOnly = true;
      delete entry.once.served;
      this.#asBytes.delete(entry);
    }
    for (const [key, entries] of this.#byKey) {
      if (this.#total <= this.#limits.bytes) return;
      this.#dropAll(key, entries);
    }
  }

  /**
   * Evicts answers that were requested only once, the least recently used first. Stops at the first answer that was
   * requested again. Returns true if `bytes` then fit into the cache.
   */
  #evictFor(bytes: number): boolean {
    for (const [key, entries] of this.#byKey) {
      const fits = this.#total + bytes <= this.#limits.bytes;
      if (fits || entries.some(({ asked }) => asked > 0)) break;
      this.#dropAll(key, entries);
    }
    return this.#total + bytes <= this.#limits.bytes;
  }

  /** Counts another request for an entry, and restores the bytes of a long body if they fit. */
  #renew(entry: Entry): void {
    entry.asked += 1;
    if (entry.served === 0) return;
    const wasAsBytes = this.#asBytes.delete(entry);
    if (!wasAsBytes) {
      // Only from the second repeat: by then every entry that is in regular use has been requested again, too, and is
      // not evicted.
      if (entry.asked < 2 || !this.#evictFor(entry.served)) return;
      this.#addBytes(entry, entry.served);
      delete entry.once.isTextOnly;
    }
    this.#asBytes.add(entry);
  }
}
