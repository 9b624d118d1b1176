/** Call `seed`: writes rows into the session. If one row is invalid, none is written. */
import { isObject, toPointer } from '#domain/json.ts';
import { type SeedMode, seedModes } from '#language/task.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { locateRefusal, type Rows } from '#store/snapshot.ts';
import { applySeed } from '../session/seed.ts';
import { CallFailure, errorOfRefusal } from './answers/failure.ts';
import { type RunCall, refuseUnknown } from './call.ts';

const readRows = (rows: unknown): Rows => {
  if (isObject(rows) && Object.values(rows).every(Array.isArray)) return rows as Rows;
  const message = 'rows must be an object that names entities, each with a list of rows';
  throw new CallFailure({ code: 'invalid_input', message, path: '/rows' });
};

const readMode = (mode: unknown = 'append'): SeedMode => {
  const known = seedModes.find((one) => one === mode);
  if (known !== undefined) return known;
  const message = `mode must be ${seedModes.map((one) => `"${one}"`).join(' or ')}`;
  throw new CallFailure({ code: 'invalid_input', message, path: '/mode' });
};

export const callSeed: RunCall = async ({ world }, _call, input) => {
  refuseUnknown(input, ['rows', 'mode']);
  const seed = { rows: readRows(input.rows), mode: readMode(input.mode) };
  try {
    const { changes, rows } = await world.store.atomically(() => applySeed(world, seed));
    return { output: { counts: world.store.counts() }, changes, rows };
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    const refusal = locateRefusal(error, world.contract, seed.rows);
    const { entity, index } = refusal;
    if (refusal.kind === 'unknown_entity') {
      throw new CallFailure({ ...errorOfRefusal(refusal), path: toPointer(['rows', entity]) });
    }
    const rowAt = index === undefined ? undefined : toPointer(['rows', entity, index]);
    throw new CallFailure(errorOfRefusal(refusal, rowAt));
  }
};
