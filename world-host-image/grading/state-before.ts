/**
 * Returns rows as they were when the task began. The changed rows are collected once per grade, when the first check
 * needs them.
 */
import type { EntityContract, Row } from '#language/contract.ts';
import { keyFrom } from '#store/tables/keys.ts';
import type { StateBefore } from '#store/write/state-before.ts';

export type RowsBefore = {
  /** Returns the row as it was when the task began: the given row if it is unchanged; undefined if it did not exist. */
  of(entity: EntityContract, row: Row): Row | undefined;
  /** Returns true if the row has changed or was inserted since the task began. */
  isChanged(entity: EntityContract, row: Row): boolean;
};

/**
 * Changed rows as they were when the task began, as JSON text, by entity and canonical key; null if the row did not
 * exist.
 */
type Changed = ReadonlyMap<string, ReadonlyMap<string, string | null>>;

const collect = (store: Pick<StateBefore, 'changesSinceTask'>): Changed => {
  const found = new Map<string, Map<string, string | null>>();
  for (const { entity, key, before } of store.changesSinceTask()) {
    const rows = found.get(entity) ?? new Map<string, string | null>();
    rows.set(key, before);
    found.set(entity, rows);
  }
  return found;
};

/** Makes the lookup. Use it while nothing changes the rows. */
export const createRowsBefore = (store: Pick<StateBefore, 'changesSinceTask'>): RowsBefore => {
  let known: Changed | undefined;
  const find = ({ name, primaryKey }: EntityContract, row: Row): string | null | undefined => {
    known ??= collect(store);
    return known.get(name)?.get(keyFrom(row, primaryKey) ?? '');
  };
  return {
    of(entity, row) {
      const before = find(entity, row);
      if (before === undefined) return row;
      return before === null ? undefined : (JSON.parse(before) as Row);
    },
    isChanged: (entity, row) => find(entity, row) !== undefined,
  };
};
