/** Writes seed rows into a world: adds them to the existing rows, merges them, or replaces the named entities. */
import type { Row } from '#language/contract.ts';
import type { SeedMode } from '#language/task.ts';
import { insertRows, type Rows } from '#store/snapshot.ts';
import type { LoadedWorld } from './session.ts';

export type Seed = {
  mode: SeedMode;
  rows: Rows;
  /** True if the shapes of the rows have already been checked against the contract. */
  isChecked?: boolean;
};

const rowsAtOnce = 500;

/** Removes all rows of an entity page by page, because the rows of a large world may be too large for memory. */
const removeAll = (store: LoadedWorld['store'], entity: string): void => {
  for (;;) {
    const { rows, more } = store.list(entity, { limit: rowsAtOnce });
    for (const payload of rows) store.remove(entity, JSON.parse(payload) as Row);
    if (!more) return;
  }
};

/**
 * Returns a function that updates an existing row by the fields of the given row, or inserts the given row. The
 * resulting row is checked as a whole.
 */
const mergeInto =
  (store: LoadedWorld['store']): Parameters<typeof insertRows>[0] =>
  (entity, row) =>
    store.get(entity, row) === undefined
      ? store.insert(entity, row)
      : store.update(entity, row, row);

/**
 * Writes a seed inside the current transaction. If a row is invalid, throws `StoreRefusal` with the index of the row.
 */
export const applySeed = (
  { store }: Pick<LoadedWorld, 'store'>,
  { mode, rows, isChecked = false }: Seed,
): void => {
  // An unknown entity is rejected even if the seed has no rows for it.
  for (const entity of Object.keys(rows)) store.query(entity, { limit: 0 });
  if (mode === 'replace') {
    for (const entity of Object.keys(rows)) {
      removeAll(store, entity);
    }
  }
  if (mode === 'merge') insertRows(mergeInto(store), rows);
  else insertRows(isChecked ? store.insertChecked : store.insert, rows);
};

/**
 * Writes a task's seed like `applySeed`. It runs before any client sees the world, so the numbers of replaced rows may
 * be used again.
 */
export const applyTaskSeed = (world: Pick<LoadedWorld, 'store'>, seed: Seed): void => {
  applySeed(world, seed);
  world.store.forgetNumbers();
};
