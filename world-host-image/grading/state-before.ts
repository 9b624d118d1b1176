/**
 * The rows that a session changed, each as it was when its task began: looked up once a grade, when the first check asks
 * for it.
 */
import type { EntityContract, Row } from '#language/contract.ts';
import { keyFrom } from '#store/tables/keys.ts';
import type { StateBefore } from '#store/write/state-before.ts';

export type RowsBefore = {
  /** The row as it was; the row itself where it is the same; undefined where it was not there. */
  of(entity: EntityContract, row: Row): Row | undefined;
  /** Whether it differs, or is new. */
  isChanged(entity: EntityContract, row: Row): boolean;
};

/** By entity and canonical key: what the row was, as JSON text; null where it was not there. */
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

/** To be read while nothing changes the rows. */
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
