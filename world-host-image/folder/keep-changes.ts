/**
 * Applies the changes of a session to a newer version of its world, which the author has edited meanwhile. Each
 * inserted, updated or deleted row is applied if the change still fits the world. Changes that do not fit are left out
 * and reported.
 */
import type { Row } from '#language/contract.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { RowDifference } from '#store/write/state-before.ts';
import type { LeftOutChange } from '#wire/program-lines/lines.ts';
import type { LoadedWorld } from '../session/session.ts';

/**
 * Result of applying changes to a newer version: the number of changes that were applied, and the changes that were
 * left out.
 */
export type KeptChanges = { kept: number; leftOut: LeftOutChange[] };

const parse = (payload: string): Row => JSON.parse(payload) as Row;

/**
 * Updates a row in place. An update cannot remove fields, so if fields are gone, the row is deleted and inserted again.
 */
const update = ({ store }: Pick<LoadedWorld, 'store'>, entity: string, before: Row, after: Row) => {
  if (Object.keys(before).every((field) => Object.hasOwn(after, field))) {
    store.update(entity, before, after);
    return;
  }
  store.remove(entity, before);
  store.insert(entity, after);
};

/** Applies a change inside the current transaction. Throws `StoreRefusal` if the store refuses it. */
const apply = (
  world: Pick<LoadedWorld, 'store'>,
  { entity, before, after }: RowDifference,
): void => {
  if (after === null) world.store.remove(entity, parse(before ?? '{}'));
  else if (before === null) world.store.insert(entity, parse(after));
  else update(world, entity, parse(before), parse(after));
};

/** Applies all changes, or none. Returns the refusal if a change was refused. */
const tryAll = async (
  world: Pick<LoadedWorld, 'store'>,
  changes: readonly RowDifference[],
): Promise<StoreRefusal | undefined> => {
  try {
    await world.store.atomically(() => {
      for (const change of changes) apply(world, change);
    });
    return undefined;
  } catch (error) {
    if (error instanceof StoreRefusal) return error;
    throw error;
  }
};

type Failed = { change: RowDifference; refusal: StoreRefusal };

/**
 * Applies changes one by one. A failed change may depend on another change, so failed changes are repeated until a
 * round applies none of them. Returns the changes that could not be applied.
 */
const tryEach = async (
  world: Pick<LoadedWorld, 'store'>,
  changes: readonly RowDifference[],
): Promise<Failed[]> => {
  let waiting = changes;
  for (;;) {
    const failed: Failed[] = [];
    for (const change of waiting) {
      const refusal = await tryAll(world, [change]);
      if (refusal !== undefined) failed.push({ change, refusal });
    }
    if (failed.length === 0 || failed.length === waiting.length) return failed;
    waiting = failed.map(({ change }) => change);
  }
};

const kindOf = ({ before, after }: RowDifference): LeftOutChange['change'] => {
  if (before === null) return 'inserted';
  return after === null ? 'deleted' : 'updated';
};

/**
 * Applies changes to a world before it is used. Changes that the store refuses are left out; any other error is thrown.
 */
export const keepChanges = async (
  world: Pick<LoadedWorld, 'store'>,
  changes: readonly RowDifference[],
): Promise<KeptChanges> => {
  if ((await tryAll(world, changes)) === undefined) return { kept: changes.length, leftOut: [] };
  const failed = await tryEach(world, changes);
  const leftOut = failed.map(({ change, refusal }) => ({
    entity: change.entity,
    key: change.key,
    change: kindOf(change),
    reason: refusal.message,
  }));
  return { kept: changes.length - failed.length, leftOut };
};
