/**
 * Answers that are kept, where the connector says that they follow from request and rows alone
 * (`keep_answers`): the same request is answered again without running code, as long as no row of an
 * entity that the code read has changed and the headers that it looked at are the same. Versions of entities
 * rise with every change and are never taken back, so what a transaction undid, a reset and a seed
 * count as changes like any other.
 *
 * One session's answers, bounded in bytes. A long one is first kept as its text alone, and made into bytes each time it
 * is served; then those that were not asked for the longest make room. A long one that is asked for again and again gets
 * its bytes back in place of answers that nobody asked for again.
 */
import type { RouteContract } from '#language/contract.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { RowVersions } from '#store/write/change-log.ts';
import type { Arguments } from '../../routes/filter-values.ts';
import type { Seen } from '../../session/seen.ts';
import type { HandlerRequest } from '../../usercode/run.ts';
import type { ApiAnswer, MadeOnce } from './answer.ts';

/** An answer, and the headers that `before` set for it. */
export type KeptAnswer = { answer: ApiAnswer; common: Record<string, string> };

/** What of a request an answer may depend on, but for headers. */
export type KeptRequest = {
  route: Pick<RouteContract, 'operation'>;
  args: Arguments;
  request: Pick<HandlerRequest, 'method' | 'path' | 'headers' | 'mediaType'>;
};

export type KeptAnswers = {
  find(request: KeptRequest): KeptAnswer | undefined;
  /** Keeps an answer of a run that saw this, unless it is the run's own or has no room. */
  keep(request: KeptRequest, answered: KeptAnswer, seen: Seen): void;
  /** What is kept, as it is counted. */
  bytes(): number;
};

type Entry = {
  kept: KeptAnswer;
  /** The headers that the code looked at, as one text: in their order where it went over all of them. */
  headers: string;
  /** Their names; `all` where it went over all of them. */
  names: readonly string[] | 'all';
  versions: [entity: string, version: number][];
  /** Of all entities, when these versions were last found to stand. */
  latest: number;
  bytes: number;
  /** What was made of its body. */
  once: MadeOnce;
  /** Of a long body, what it takes as it is served. */
  served: number;
  /** How often it was asked for again. */
  asked: number;
};

export type KeptLimits = { bytes: number; answerBytes: number; variants: number };

const defaultLimits: KeptLimits = {
  bytes: 8 * 1024 * 1024,
  answerBytes: 2 * 1024 * 1024,
  /** Answers to one request that differ by headers. */
  variants: 8,
};

/** What an entry takes beside its texts, about. */
const entryBytes = 1_024;

const keyOf = ({ route, args, request }: KeptRequest): string =>
  JSON.stringify([route.operation, request.method, request.path, request.mediaType, args]);

/** Characters of a body whose bytes make room before any answer does. */
const longestShort = 64 * 1024;

/**
 * A body is there as text, and as the bytes that are served. V8 keeps a text that is ASCII, as most are, in one byte a
 * character, and others in up to two.
 */
const bytesOfBody = (body: string): { text: number; served: number } => {
  const served = Buffer.byteLength(body);
  return { text: served === body.length ? served : 2 * body.length, served };
};

/** What an entry takes beside its body. */
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
    // A worker may name any entity.
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

/** Nothing is kept yet. `versions` are those of the session's rows. */
export const createKeptAnswers = (
  versions: RowVersions,
  limits: KeptLimits = defaultLimits,
): KeptAnswers => {
  const byKey = new Map<string, Entry[]>();
  /** Those with a long body that are there as bytes, too; first what was not asked for the longest. */
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

  /** Puts what is kept of a request last in the order in which answers make room. */
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

  /** Makes room among those that nobody asked for again, as far as they were not asked for the longest. */
  const hasRoomFor = (bytes: number): boolean => {
    for (const [key, entries] of byKey) {
      if (total + bytes <= limits.bytes || entries.some(({ asked }) => asked > 0)) break;
      dropAll(key, entries);
    }
    return total + bytes <= limits.bytes;
  };

  /** An entry is asked for again. */
  const renew = (entry: Entry): void => {
    entry.asked += 1;
    if (entry.served === 0) return;
    const wasAsBytes = asBytes.delete(entry);
    if (!wasAsBytes) {
      // By its second time whatever else is asked for again was, too.
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
