/**
 * Decides which rows a worker caches. Entities are cached as a whole, so that user code reads them without a request to
 * the host. Each message to the worker contains the changes since the previous message, so cached reads equal what the
 * store would answer. A read that the cache cannot answer goes to the host.
 *
 * An entity is cached once the requests for it have cost about as much as caching it would. A session that reads a
 * large entity only twice therefore never pays for all of the entity.
 */
import { isAddressable } from '#language/sql/ddl.ts';
import type { RowSource } from '../run.ts';

export type CacheLimits = {
  /**
   * Maximum size of one cached entity, in bytes of JSON. The next field is the maximum of all entities that one worker
   * caches.
   */
  entityBytes: number;
  bytes: number;
  /** Maximum number of rows of one cached entity. */
  rows: number;
};

const kibibyte = 1024;

/** Cost of one request in addition to the bytes of its answer, expressed in bytes of cached rows. */
const askBytes = 16 * kibibyte;

export const cacheLimits = (memoryMb: number): CacheLimits => ({
  entityBytes: 2 * kibibyte * kibibyte,
  bytes: Math.floor((memoryMb / 24) * kibibyte * kibibyte),
  rows: 8_192,
});

type Store = RowSource['store'];
type Entity = RowSource['entities'][number];
type CachedEntity = { version: number; bytes: number };
/** JSON texts of rows for the worker, by entity. */
type Texts = ReadonlyMap<string, string>;
/** Cost of the requests for an entity so far. `size` is undefined if the entity is too large to be cached. */
type Account = { spent: number; size: number | undefined; version: number };

/** Returns true if a field is addressed by a plain name, not by a path, and has its own column in the store. */
const isPlain = ({ name }: { name: string }): boolean =>
  !/[./]|^\d+$/.test(name) && isAddressable([name]);

/** Encodes rows for a worker as a list that alternates positions and rows; the row is null if it was deleted. */
const listOf = (pairs: readonly (readonly [number, string | undefined])[]): string =>
  `[${pairs.map(([position, payload]) => `${position},${payload ?? 'null'}`).join(',')}]`;

const objectOf = (members: Texts): string =>
  `{${[...members].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;

/** Encodes a whole entity for a worker. */
const encodeEntity = (store: Store, { name, primaryKey, columns }: Entity): string => {
  const rows = listOf(store.rowsOf(name).map(({ position, payload }) => [position, payload]));
  const plain = columns.filter(isPlain).map(({ name: field, type }) => [field, type]);
  const [key, fields] = [primaryKey, plain].map((value) => JSON.stringify(value));
  return `{"key":${key},"columns":${fields},"rows":${rows}}`;
};

/** Records which rows one worker caches, and computes the updates of its cache. */
export class RowCache {
  readonly #limits: CacheLimits;
  readonly #cached = new Map<string, CachedEntity>();
  readonly #accounts = new Map<string, Account>();
  #store: Store | undefined;
  #names: ReadonlySet<string> = new Set();
  #latest = -1;
  /** Entities that are to be cached, because the requests for them have cost enough. */
  readonly #due = new Set<string>();
  /** Entities that the worker must remove from its cache. */
  readonly #dropped = new Set<string>();

  constructor(limits: CacheLimits) {
    this.#limits = limits;
  }

  /** Counts a read for which the worker made a request, and the bytes of the answer. */
  count(name: string, answerBytes: number): void {
    const store = this.#store;
    if (store === undefined || this.#cached.has(name) || !this.#names.has(name)) return;
    const known = this.#accounts.get(name);
    const isKnown =
      known !== undefined && store.versions.changedSince(name, known.version) !== 'all';
    const account = isKnown
      ? known
      : { spent: 0, size: this.#sizeOf(store, name), version: store.versions.version(name) };
    this.#accounts.set(name, account);
    account.spent += askBytes + answerBytes;
    if (account.size !== undefined && account.spent >= account.size) this.#due.add(name);
  }

  /**
   * Returns the cache updates that the worker needs before its next read, as JSON of at most `budgetBytes`; undefined
   * if the worker's cache is up to date.
   */
  update(source: RowSource | undefined, budgetBytes: number): string | undefined {
    if (source?.store !== this.#store) this.#changeSource(source);
    const changed: Texts =
      source === undefined ? new Map() : this.#readChanges(source.store, budgetBytes);
    let left = budgetBytes;
    for (const text of changed.values()) left -= Buffer.byteLength(text);
    const added: Texts =
      source === undefined || this.#due.size === 0 ? new Map() : this.#readDue(source, left);
    if (this.#dropped.size + changed.size + added.size === 0) return undefined;
    const gone = JSON.stringify([...this.#dropped]);
    this.#dropped.clear();
    return `{"drop":${gone},"changed":${objectOf(changed)},"hold":${objectOf(added)}}`;
  }

  /** Drops all records, because the worker's cache is empty. */
  forget(): void {
    this.#cached.clear();
    this.#accounts.clear();
    this.#due.clear();
    this.#dropped.clear();
  }

  #changeSource(source: RowSource | undefined): void {
    for (const name of this.#cached.keys()) this.#drop(name);
    this.#accounts.clear();
    this.#due.clear();
    this.#store = source?.store;
    this.#names = new Set(source?.entities.map((entity) => entity.name));
    this.#latest = -1;
  }

  #drop(name: string): void {
    this.#cached.delete(name);
    this.#accounts.delete(name);
    this.#dropped.add(name);
  }

  /** Returns the size of an entity in bytes; undefined if the entity is too large to be cached. */
  #sizeOf(store: Store, name: string): number | undefined {
    const size = store.sizeOf(name, this.#limits.rows);
    return size === undefined || size > this.#limits.entityBytes ? undefined : size;
  }

  #cachedBytes(): number {
    return [...this.#cached.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Collects the changes of cached entities. Entities that have changed too much are dropped from the cache. */
  #readChanges(store: Store, budgetBytes: number): Texts {
    const changes = new Map<string, string>();
    if (store.versions.latest() === this.#latest) return changes;
    this.#latest = store.versions.latest();
    let left = budgetBytes;
    for (const [name, entity] of this.#cached) {
      const version = store.versions.version(name);
      if (version === entity.version) continue;
      const changed = store.versions.changedSince(name, entity.version);
      entity.version = version;
      const text = changed === 'all' ? undefined : this.#readChanged(store, name, changed, left);
      if (text === undefined) {
        this.#drop(name);
        continue;
      }
      const bytes = Buffer.byteLength(text);
      left -= bytes;
      // The replaced rows are counted, too, so the entity is measured before it is considered too large.
      entity.bytes += bytes;
      if (entity.bytes > this.#limits.entityBytes)
        entity.bytes = this.#sizeOf(store, name) ?? this.#limits.bytes + 1;
      if (left < 0 || this.#cachedBytes() > this.#limits.bytes) this.#drop(name);
      else changes.set(name, text);
    }
    return changes;
  }

  /** Reads the rows at the given positions. If they exceed the size budget, returns undefined. */
  #readChanged(
    store: Store,
    name: string,
    changed: ReadonlySet<number>,
    budgetBytes: number,
  ): string | undefined {
    const rows: [number, string | undefined][] = [];
    let left = Math.min(budgetBytes, this.#limits.entityBytes);
    for (const at of changed) {
      const payload = store.rowAt(name, at);
      left -= Buffer.byteLength(payload ?? '');
      if (left < 0) return undefined;
      rows.push([at, payload]);
    }
    return listOf(rows);
  }

  /** Reads the rows of entities that are to be cached from now on, within the size budget. */
  #readDue({ store, entities }: RowSource, budgetBytes: number): Texts {
    const texts = new Map<string, string>();
    let left = budgetBytes;
    for (const name of this.#due) {
      const entity = entities.find((each) => each.name === name);
      const size = entity === undefined ? undefined : this.#sizeOf(store, name);
      const isTooLarge = size === undefined || this.#cachedBytes() + size > this.#limits.bytes;
      if (entity === undefined || isTooLarge) {
        const version = entity === undefined ? 0 : store.versions.version(name);
        this.#accounts.set(name, { spent: 0, size: undefined, version });
        this.#due.delete(name);
        continue;
      }
      const text = encodeEntity(store, entity);
      const bytes = Buffer.byteLength(text);
      if (bytes > left) continue; // with a later message
      left -= bytes;
      this.#due.delete(name);
      this.#cached.set(name, { version: store.versions.version(name), bytes });
      texts.set(name, text);
    }
    return texts;
  }
}
