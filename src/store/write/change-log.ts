/**
 * Which rows of an entity changed since somebody looked: a version that rises with every change, and the
 * positions of the last ones, so that a copy of the entity is brought up to date by what changed and not
 * by all that there is. It says where to look and not what is there: a row that is named is read as it is
 * by then, or found to be gone.
 *
 * Nothing is taken back. What a transaction that fails had changed has changed once more when it is
 * undone; and going back to a mark, which may bring any row, counts as a change of the whole entity.
 */
import type { Catalog, CatalogEntity } from '../tables/catalog.ts';

/** Changes of one entity that are remembered at least; twice as many at most. */
const mostRemembered = 256;

/** Positions of rows that were inserted, changed or removed; `all` where they are no more remembered. */
export type ChangedRows = ReadonlySet<number> | 'all';

/** How far an entity's rows have come, as its readers see it. */
export type RowVersions = {
  /** Rises with every change of any row of any entity. */
  latest(): number;
  /** The same of one entity; equal versions, equal rows. Throws `StoreRefusal` for an unknown entity. */
  version(entity: string): number;
  /** What changed since a version that was read before, also within the transaction under way. */
  changedSince(entity: string, version: number): ChangedRows;
};

export type ChangeLog = RowVersions & {
  begin(): void;
  /** To be called after each change of a row. */
  record(entity: CatalogEntity, position: number): void;
  /** What was recorded since `begin` was undone. */
  rollBack(): void;
  /** Any row of any entity may be another. */
  changeAll(): void;
};

type Log = { version: number; recent: number[] };

const since = ({ version, recent }: Log, known: number): ChangedRows => {
  const missed = version - known;
  if (missed === 0) return new Set();
  return missed > recent.length ? 'all' : new Set(recent.slice(-missed));
};

export const createChangeLog = (catalog: Catalog): ChangeLog => {
  const logs = new Map<string, Log>(
    catalog.entities.map(({ name }) => [name, { version: 0, recent: [] }]),
  );
  /** Entities that the transaction under way has changed, at the version they had before. */
  const touched = new Map<Log, number>();
  let latest = 0;

  const logOf = (name: string): Log => logs.get(catalog.entity(name).name) as Log;

  const changeWhole = (log: Log): void => {
    latest += 1;
    log.version += 1;
    log.recent = [];
  };

  const add = (log: Log, position: number): void => {
    latest += 1;
    log.version += 1;
    if (log.recent.length === 2 * mostRemembered) log.recent = log.recent.slice(-mostRemembered);
    log.recent.push(position);
  };

  return {
    latest: () => latest,
    version: (entity) => logOf(entity).version,
    changedSince: (entity, version) => since(logOf(entity), version),
    begin: () => touched.clear(),
    record({ name }, position) {
      const log = logs.get(name) as Log;
      if (!touched.has(log)) touched.set(log, log.version);
      add(log, position);
    },
    rollBack() {
      for (const [log, version] of touched) {
        const undone = since(log, version);
        if (undone === 'all') changeWhole(log);
        else for (const position of undone) add(log, position);
      }
      touched.clear();
    },
    changeAll() {
      for (const log of logs.values()) changeWhole(log);
    },
  };
};
