/**
 * Carries what was done in a session over to the same world as its author has changed it since: each row that was
 * inserted, updated or deleted, as far as it fits the world by now. What does not fit is left out and told.
 */
import type { Row } from '#language/contract.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { RowDifference } from '#store/write/state-before.ts';
import type { LeftOutChange } from '#wire/program-lines/lines.ts';
import type { LoadedWorld } from '../session/session.ts';

/** What became of the changes. */
export type KeptChanges = { kept: number; leftOut: LeftOutChange[] };

const parse = (payload: string): Row => JSON.parse(payload) as Row;

/** An update keeps the row's place, unless fields are gone, which no update takes away. */
const update = ({ store }: Pick<LoadedWorld, 'store'>, entity: string, before: Row, after: Row) => {
  if (Object.keys(before).every((field) => Object.hasOwn(after, field))) {
    store.update(entity, before, after);
    return;
  }
  store.remove(entity, before);
  store.insert(entity, after);
};

/** Inside the transaction under way. Throws `StoreRefusal`. */
const apply = (
  world: Pick<LoadedWorld, 'store'>,
  { entity, before, after }: RowDifference,
): void => {
  if (after === null) world.store.remove(entity, parse(before ?? '{}'));
  else if (before === null) world.store.insert(entity, parse(after));
  else update(world, entity, parse(before), parse(after));
};

/** Does all of them, or none; why not. */
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

/** One by one, those again that waited for others, until none of the rest can be done. */
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

/** To be called before anybody uses the world. Throws what is no refusal of the store. */
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
