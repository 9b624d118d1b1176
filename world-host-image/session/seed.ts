/** Writes seed rows into a world: adds them to the existing rows, merges them, or replaces the named entities. */
import type { Row } from '#language/contract.ts';
import type { SeedMode } from '#language/task.ts';
import { insertRows, type Rows } from '#store/snapshot.ts';
import type { LoadedWorld } from './session.ts';

export type Seed = {
  mode: SeedMode;
  rows: Rows;
  /** True if the shapes of the rows were already checked against the contract. */
  isChecked?: boolean;
};

const rowsAtOnce = 500;

/** Removes all rows of an entity page by page, because the rows of a large world must not be in memory together. */
const removeAll = (store: LoadedWorld['store'], entity: string): void => {
  for (;;) {
    const { rows, more } = store.list(entity, { limit: rowsAtOnce });
    for (const payload of rows) store.remove(entity, JSON.parse(payload) as Row);
    if (!more) return;
  }
};

/**
 * Returns a function that updates the fields of an existing row, or inserts a new one. The resulting row is checked as
 * a whole.
 */
const mergeInto =
  (store: LoadedWorld['store']): Parameters<typeof insertRows>[0] =>
  (entity, row) =>
    store.get(entity, row) === undefined
      ? store.insert(entity, row)
      : store.update(entity, row, row);

/** Writes a seed inside the current transaction. Throws `StoreRefusal` with the index of an invalid row. */
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
 * Writes a task's seed like `applySeed`, before any client sees the world. So the numbers of the rows that it replaces
 * may be used again.
 */
export const applyTaskSeed = (world: Pick<LoadedWorld, 'store'>, seed: Seed): void => {
  applySeed(world, seed);
  world.store.forgetNumbers();
};
