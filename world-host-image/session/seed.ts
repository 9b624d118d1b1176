/** Puts seed rows into a world: on top of what is there, merged into it, or in place of the entities that are named. */
import type { Row } from '#language/contract.ts';
import type { SeedMode } from '#language/task.ts';
import { insertRows, type Rows } from '#store/snapshot.ts';
import type { LoadedWorld } from './session.ts';

export type Seed = {
  mode: SeedMode;
  rows: Rows;
  /** Whether the contract has checked the shapes of the rows already; absent: it has not. */
  isChecked?: boolean;
};

const rowsAtOnce = 500;

/** Page by page: a large world's rows are never in memory together. */
const removeAll = (store: LoadedWorld['store'], entity: string): void => {
  for (;;) {
    const { rows, more } = store.list(entity, { limit: rowsAtOnce });
    for (const payload of rows) store.remove(entity, JSON.parse(payload) as Row);
    if (!more) return;
  }
};

/** Changes the fields of the row that is there, or inserts one; what comes of it is checked as a whole. */
const mergeInto =
  (store: LoadedWorld['store']): Parameters<typeof insertRows>[0] =>
  (entity, row) =>
    store.get(entity, row) === undefined
      ? store.insert(entity, row)
      : store.update(entity, row, row);

/** Works inside the transaction under way. Throws `StoreRefusal` with the index of a bad row. */
export const applySeed = (
  { store }: Pick<LoadedWorld, 'store'>,
  { mode, rows, isChecked = false }: Seed,
): void => {
  // An entity that there is not is refused, also with no rows to put there.
  for (const entity of Object.keys(rows)) store.query(entity, { limit: 0 });
  if (mode === 'replace') {
    for (const entity of Object.keys(rows)) {
      removeAll(store, entity);
    }
  }
  if (mode === 'merge') insertRows(mergeInto(store), rows);
  else insertRows(isChecked ? store.insertChecked : store.insert, rows);
};

/** As `applySeed`, of a task's rows, before anybody sees the world: what they replaced counts for nothing. */
export const applyTaskSeed = (world: Pick<LoadedWorld, 'store'>, seed: Seed): void => {
  applySeed(world, seed);
  world.store.forgetNumbers();
};
