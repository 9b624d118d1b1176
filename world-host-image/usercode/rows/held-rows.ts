/**
 * Decides which rows a worker caches: whole entities, so that its code reads them without a request to the host. Each
 * message to the worker carries the changes since the previous one, so cached reads equal what the store would answer.
 * A read that the cache cannot answer goes to the host.
 *
 * An entity is cached once the requests for it have cost about as much as caching it. A session that reads a large
 * entity twice therefore never pays for all of it.
 */
import { isAddressable } from '#language/sql/ddl.ts';
import type { RowSource } from '../run.ts';

export type HeldLimits = {
  /** Maximum bytes of JSON of one entity, and below it of all entities that one worker caches. */
  entityBytes: number;
  bytes: number;
  /** Maximum number of rows of one entity. */
  rows: number;
};

const kibibyte = 1024;

/** Cost of one request, in bytes of cached rows, on top of the bytes of its answer. */
const askBytes = 16 * kibibyte;

export const heldLimits = (memoryMb: number): HeldLimits => ({
  entityBytes: 2 * kibibyte * kibibyte,
  bytes: Math.floor((memoryMb / 24) * kibibyte * kibibyte),
  rows: 8_192,
});

export type HeldRows = {
  /** Counts a read that was requested, and the bytes of its answer. */
  count(entity: string, answerBytes: number): void;
  /**
   * Returns the cache updates that the worker needs before it reads on, as JSON of at most `roomBytes`; undefined if
   * it is up to date.
   */
  update(source: RowSource | undefined, roomBytes: number): string | undefined;
  /** Forgets everything, because the worker's cache is empty. */
  forget(): void;
};

type Held = { version: number; bytes: number };
/** Cost of the requests for an entity so far; `size` is undefined if the entity is too large to be cached. */
type Account = { spent: number; size: number | undefined; version: number };

/** Returns true if a field is addressed by its plain name, and has its own column in the store. */
const isPlain = ({ name }: { name: string }): boolean =>
  !/[./]|^\d+$/.test(name) && isAddressable([name]);

/** Encodes rows for a worker: position, row, position, row; null for a deleted row. */
const listOf = (pairs: readonly (readonly [number, string | undefined])[]): string =>
  `[${pairs.map(([position, payload]) => `${position},${payload ?? 'null'}`).join(',')}]`;

const objectOf = (members: ReadonlyMap<string, string>): string =>
  `{${[...members].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;

export const createHeldRows = (limits: HeldLimits): HeldRows => {
  const held = new Map<string, Held>();
  const accounts = new Map<string, Account>();
  let store: RowSource['store'] | undefined;
  let names: ReadonlySet<string> = new Set();
  let latest = -1;
  /** Entities whose requests have cost enough to cache them. */
  const due = new Set<string>();
  /** Entities that the worker must remove from its cache. */
  const dropped = new Set<string>();

  const drop = (name: string): void => {
    held.delete(name);
    accounts.delete(name);
    dropped.add(name);
  };

  const sizeOf = (source: RowSource['store'], name: string): number | undefined => {
    const size = source.sizeOf(name, limits.rows);
    return size === undefined || size > limits.entityBytes ? undefined : size;
  };

  const heldBytes = (): number => [...held.values()].reduce((sum, { bytes }) => sum + bytes, 0);

  /** Collects the changes of cached entities. Drops entities that have changed too much. */
  const readChanges = (
    source: RowSource['store'],
    roomBytes: number,
  ): ReadonlyMap<string, string> => {
    const changes = new Map<string, string>();
    if (source.versions.latest() === latest) return changes;
    latest = source.versions.latest();
    let room = roomBytes;
    for (const [name, entity] of held) {
      const version = source.versions.version(name);
      if (version === entity.version) continue;
      const changed = source.versions.changedSince(name, entity.version);
      entity.version = version;
      if (changed === 'all') {
        drop(name);
        continue;
      }
      const text = readChanged(source, name, changed, room);
      if (text === undefined) {
        drop(name);
        continue;
      }
      const bytes = Buffer.byteLength(text);
      room -= bytes;
      // The replaced rows are counted, too, so the entity is measured before it is considered too large.
      entity.bytes += bytes;
      if (entity.bytes > limits.entityBytes)
        entity.bytes = sizeOf(source, name) ?? limits.bytes + 1;
      if (room < 0 || heldBytes() > limits.bytes) drop(name);
      else changes.set(name, text);
    }
    return changes;
  };

  /** Reads the rows at some positions; stops and returns undefined if they exceed the size budget. */
  const readChanged = (
    source: RowSource['store'],
    name: string,
    changed: ReadonlySet<number>,
    roomBytes: number,
  ): string | undefined => {
    const rows: [number, string | undefined][] = [];
    let room = Math.min(roomBytes, limits.entityBytes);
    for (const at of changed) {
      const payload = source.rowAt(name, at);
      room -= Buffer.byteLength(payload ?? '');
      if (room < 0) return undefined;
      rows.push([at, payload]);
    }
    return listOf(rows);
  };

  /** Reads the rows of entities to be cached from now on, within the size budget. */
  const readDue = (source: RowSource, roomBytes: number): ReadonlyMap<string, string> => {
    const texts = new Map<string, string>();
    let room = roomBytes;
    for (const name of due) {
      const entity = source.entities.find((each) => each.name === name);
      const size = entity === undefined ? undefined : sizeOf(source.store, name);
      if (entity === undefined || size === undefined || heldBytes() + size > limits.bytes) {
        accounts.set(name, {
          spent: 0,
          size: undefined,
          version: entity === undefined ? 0 : source.store.versions.version(name),
        });
        due.delete(name);
        continue;
      }
      const rows = source.store.rowsOf(name);
      const list = listOf(rows.map(({ position, payload }) => [position, payload]));
      const columns = JSON.stringify(
        entity.columns.filter(isPlain).map(({ name: field, type }) => [field, type]),
      );
      const text = `{"key":${JSON.stringify(entity.primaryKey)},"columns":${columns},"rows":${list}}`;
      const bytes = Buffer.byteLength(text);
      if (bytes > room) continue; // with a later message
      room -= bytes;
      due.delete(name);
      held.set(name, { version: source.store.versions.version(name), bytes });
      texts.set(name, text);
    }
    return texts;
  };

  const forget = (): void => {
    held.clear();
    accounts.clear();
    due.clear();
    dropped.clear();
  };

  return {
    forget,
    count(name, answerBytes) {
      if (store === undefined || held.has(name) || !names.has(name)) return;
      const known = accounts.get(name);
      const isKnown =
        known !== undefined && store.versions.changedSince(name, known.version) !== 'all';
      const account = isKnown
        ? known
        : { spent: 0, size: sizeOf(store, name), version: store.versions.version(name) };
      accounts.set(name, account);
      account.spent += askBytes + answerBytes;
      if (account.size !== undefined && account.spent >= account.size) due.add(name);
    },
    update(source, roomBytes) {
      if (source?.store !== store) {
        for (const name of held.keys()) drop(name);
        accounts.clear();
        due.clear();
        store = source?.store;
        names = new Set(source?.entities.map((entity) => entity.name));
        latest = -1;
      }
      const changed =
        source === undefined ? new Map<string, string>() : readChanges(source.store, roomBytes);
      let room = roomBytes;
      for (const text of changed.values()) room -= Buffer.byteLength(text);
      const added =
        source === undefined || due.size === 0 ? new Map<string, string>() : readDue(source, room);
      if (dropped.size + changed.size + added.size === 0) return undefined;
      const gone = JSON.stringify([...dropped]);
      dropped.clear();
      return `{"drop":${gone},"changed":${objectOf(changed)},"hold":${objectOf(added)}}`;
    },
  };
};
