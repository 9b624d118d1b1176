/**
 * The store as user code sees it during one run. Everything it does is part of the transaction that
 * the run's call or request holds.
 */
import { randomUUID } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import { ledgerEntity } from '#domain/ledger.ts';
import type { Row } from '#language/contract.ts';
import type { WorldStore } from '#store/world-store.ts';
import type { Ledger } from '../ledger.ts';
import type { StoreAccess } from '../usercode/run.ts';
import { worldNow } from './clock.ts';

const parse = (payload: string): Row => JSON.parse(payload) as Row;

/** Reading and writing, for tools and handlers. */
export const createStoreAccess = (store: WorldStore): StoreAccess => ({
  get(entity, key) {
    const payload = store.get(entity, key);
    return payload === undefined ? null : parse(payload);
  },
  query: (entity, query) => store.query(entity, query).map(parse),
  insert(entity, row) {
    store.insert(entity, row);
    return row;
  },
  update: (entity, key, patch) => parse(store.update(entity, key, patch)),
  remove: (entity, key) => store.remove(entity, key),
  nextInteger: (entity, field) => store.largest(entity, field) + 1,
  now: worldNow,
  uuid: () => randomUUID(),
});

const refuseWrite = (): never => {
  throw new AppError('forbidden', 'a grader reads the state and may not change it');
};

/** Reading only, the request ledger included, for graders. */
export const createGraderAccess = (store: WorldStore, ledger: Ledger): StoreAccess => {
  const access = createStoreAccess(store);
  return {
    ...access,
    query: (entity, query) =>
      entity === ledgerEntity
        ? ledger.query(entity, query).map(parse)
        : access.query(entity, query),
    insert: refuseWrite,
    update: refuseWrite,
    remove: refuseWrite,
  };
};
