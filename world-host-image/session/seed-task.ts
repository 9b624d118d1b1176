/** Seeds a world with the rows of a task, before anybody sees it. */
import { StoreRefusal } from '#store/refusal.ts';
import { locateRefusal } from '#store/snapshot.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import { applyTaskSeed } from './seed.ts';
import type { LoadedWorld } from './session.ts';

/**
 * The control plane checks the rows of a seed before it gives it out; compiling the same checks again
 * would be the longest part of an open. Keys, unique lists and references are the store's to check.
 */
export const seedTask = async (world: LoadedWorld, task: TaskSpec | null): Promise<void> => {
  const { rows, mode = 'append' } = task?.seed ?? { rows: {} };
  try {
    await world.store.atomically(() => applyTaskSeed(world, { rows, mode, isChecked: true }));
  } catch (error) {
    throw error instanceof StoreRefusal ? locateRefusal(error, world.contract, rows) : error;
  }
};
