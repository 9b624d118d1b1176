/**
 * Access of user code to the store during one run. All its operations are part of the transaction of the run's call or
 * request.
 */
import { AppError } from '#domain/error.ts';
import { scopesOf } from '#language/contract.ts';
import type { FrozenRows } from '#store/frozen.ts';
import type { StoreAccess } from '../usercode/run.ts';
import { deliver } from './deliveries.ts';
import { createIds } from './ids.ts';
import { tokenLifetimeSeconds } from './oauth-tokens.ts';
import type { Session } from './session.ts';

const mintToken = (session: Session): ReturnType<StoreAccess['mintToken']> => {
  const { auth } = session.world.contract.api ?? {};
  if (auth?.scheme !== 'oauth2') {
    const message = `access tokens can be minted only if [auth] has scheme = "oauth2", not "${auth?.scheme ?? 'none'}"`;
    throw new AppError('invalid', message);
  }
  const token = session.tokens.mintAccess(scopesOf(auth.scope));
  const expires = session.clock.now().getTime() + tokenLifetimeSeconds * 1_000;
  return { token, expires: new Date(expires).toISOString() };
};

/** Returns read and write access, for tools and handlers; `bearers` are the tokens of the request. */
export const createStoreAccess = (
  session: Session,
  bearers: readonly string[] = [],
): StoreAccess => {
  const { store, contract } = session.world;
  return {
    rows: { store, entities: contract.entities },
    get: (entity, key) => store.get(entity, key) ?? null,
    query: store.query,
    count: store.count,
    // Rows are checked at each write, so that code can catch a refusal there, and no refusal is left when the code has
    // returned.
    insert: (entity, row) => store.insert(entity, row, 'now'),
    update: (entity, key, patch) => store.update(entity, key, patch, 'now'),
    remove: store.remove,
    nextInteger: store.nextNumber,
    now: session.clock.iso,
    time: session.clock.time,
    uuid: session.ids.uuid,
    deliver: (event) => deliver(session, event),
    mintToken: () => mintToken(session),
    revokeToken: () => bearers.forEach(session.tokens.revokeAccess),
  };
};

const refuseWrite = (): never => {
  throw new AppError('forbidden', 'a grader reads the state and may not change it');
};

/**
 * Returns read-only access for graders, over a copy of the rows, at the time at which the copy was made. `onRead` is
 * called for each entity that is read. Ids are drawn from a sequence of the grader's own. The sequence is the same for
 * each grade, and leaves the session's ids unchanged.
 */
export const createGraderAccess = (
  rows: FrozenRows,
  at: string,
  onRead: (entity: string) => void,
): StoreAccess => ({
  get(entity, key) {
    onRead(entity);
    return rows.get(entity, key) ?? null;
  },
  query(entity, query) {
    onRead(entity);
    return rows.query(entity, query);
  },
  count(entity, where) {
    onRead(entity);
    return rows.count(entity, where);
  },
  nextInteger(entity, field, within) {
    onRead(entity);
    return rows.nextNumber(entity, field, within);
  },
  now: () => at,
  time: () => ({ iso: at, untilMs: null }),
  uuid: createIds(0).uuid,
  insert: refuseWrite,
  update: refuseWrite,
  remove: refuseWrite,
  deliver: refuseWrite,
  mintToken: refuseWrite,
  revokeToken: refuseWrite,
});
