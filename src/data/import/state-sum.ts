/** State sum of the new version, updated row by row from that of the base. */
import { addHash, rowHash, subtractHash } from '#store/read/state-digest.ts';
import type { CatalogEntity } from '#store/tables/catalog.ts';
import type { ImportDatabase } from './database.ts';

export type StateSum = {
  add(entity: CatalogEntity, key: string, payload: string): void;
  remove(entity: CatalogEntity, key: string, payload: string): void;
  value(): bigint;
};

const sumOfBase = ({ prepare, base }: ImportDatabase): bigint => {
  if (base === null) return 0n;
  const row = prepare(`SELECT sum FROM ${base}.svc_store`).get();
  if (typeof row?.sum !== 'string') throw new Error('the base of an import lacks its state sum');
  return BigInt(row.sum);
};

export const createStateSum = (database: ImportDatabase): StateSum => {
  let sum = sumOfBase(database);
  return {
    add(entity, key, payload) {
      sum = addHash(sum, rowHash(entity.name, key, payload));
    },
    remove(entity, key, payload) {
      sum = subtractHash(sum, rowHash(entity.name, key, payload));
    },
    value: () => sum,
  };
};
