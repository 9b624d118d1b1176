/** Seeds a world with the rows of a task, before any client sees it. */
import { StoreRefusal } from '#store/refusal.ts';
import { locateRefusal } from '#store/snapshot.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import { applyTaskSeed } from './seed.ts';
import type { LoadedWorld } from './session.ts';

/**
 * Seeds the rows. The control plane checks the shapes of the rows before it sends the seed to a host. They are not
 * checked again here, because compiling the checks would take longer than all other steps of an open. The store checks
 * keys, unique lists and references.
 */
export const seedTask = async (world: LoadedWorld, task: TaskSpec | null): Promise<void> => {
  const { rows, mode = 'append' } = task?.seed ?? { rows: {} };
  try {
    await world.store.atomically(() => applyTaskSeed(world, { rows, mode, isChecked: true }));
  } catch (error) {
    throw error instanceof StoreRefusal ? locateRefusal(error, world.contract, rows) : error;
  }
};
