/**
 * Records which rows of an entity changed: a version that rises with every change, and the positions of the latest
 * changes. With these, a copy of the entity is updated from the changed rows only, and not from all rows. The log has
 * positions and no contents: the caller reads the row at a position, or finds that it is gone.
 *
 * A rollback removes nothing from the log. If a transaction fails, undoing it counts as one more change of the same
 * rows. Rolling back to a mark, which may restore any row, counts as a change of the whole entity.
 */
import type { Catalog, CatalogEntity } from '../tables/catalog.ts';

/** Minimum number of changes remembered for an entity; the maximum is twice as many. */
const mostRemembered = 256;

/** Positions of rows that were inserted, changed or removed; `all` if the positions are no longer remembered. */
export type ChangedRows = ReadonlySet<number> | 'all';

/** Versions of the rows of entities, for readers. */
export type RowVersions = {
  /** Returns a version that rises with every change of any row of any entity. */
  latest(): number;
  /**
   * Returns the version of one entity; if it is the same as before, the rows are the same. Throws `StoreRefusal` for an
   * unknown entity.
   */
  version(entity: string): number;
  /** Returns the changes since an earlier version, also within the current transaction. */
  changedSince(entity: string, version: number): ChangedRows;
};

export type ChangeLog = RowVersions & {
  begin(): void;
  /** Records a change of a row; must be called after each. */
  record(entity: CatalogEntity, position: number): void;
  /** Records that the changes since the transaction began were undone. */
  rollBack(): void;
  /** Records that any row of any entity may have changed. */
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
  /** Entities that the current transaction has changed, each with its version before the transaction. */
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
