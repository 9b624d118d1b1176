/**
 * What a query process does: it answers one plan after the other, and keeps a few store files open, with the
 * contracts that they were made by. A file that was not asked for in a while is closed: nobody else may have it
 * any more, and then it takes room on the disk for this process alone.
 */

import { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { type FieldIndexPlan, writeFieldIndex } from '#data/query/field-index.ts';
import type { QueryOutcome, QueryPlan, Target } from '#data/query/plan.ts';
import { runQuery } from '#data/query/run.ts';
import { openStoreFile, type ReadContract, type StoreFile } from '#data/query/store-file.ts';
import { AppError } from '#domain/error.ts';
import { own } from '#domain/json.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { Lacking } from '../compile/serve-jobs.ts';

export type QueryJob = {
  kind: 'query';
  plan: QueryPlan;
  /** By the names that targets have for them; only where the process lacks one. */
  contracts?: Record<string, ReadContract>;
};

/** One of a version with all its links fits. */
const mostOpen = 24;
const closedAfterMs = 60_000;

/** What SQLite may take of memory, for sorting and for pages that are not mapped, of all files together. */
const sqliteHeapBytes = 192 * 1024 * 1024;
const sqliteNoMemory = 7;

const boundMemory = (): void => {
  const db = new DatabaseSync(':memory:');
  db.exec(`PRAGMA hard_heap_limit = ${sqliteHeapBytes}`);
  db.close();
};

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === sqliteNoMemory;

/** Makes what answers the queries of one process. Throws `Lacking` for a file that it has no contract for. */
export const createQueries = (): ((job: QueryJob) => QueryOutcome) => {
  boundMemory();
  const files = new LRUCache<string, StoreFile>({
    max: mostOpen,
    ttl: closedAfterMs,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (file) => file.close(),
  });
  const open = (target: Target, contracts: QueryJob['contracts']): StoreFile => {
    const key = `${target.snapshot} ${target.contract}`;
    const known = files.get(key);
    if (known !== undefined) return known;
    const contract = own(contracts ?? {}, target.contract);
    if (contract === undefined) throw new Lacking();
    const opened = openStoreFile(target.file, contract);
    files.set(key, opened);
    return opened;
  };
  return ({ plan, contracts }) => {
    try {
      return runQuery(plan, (target) => open(target, contracts));
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
      throw new AppError('invalid', outOfMemory, { cause: error });
    }
  };
};

/** Writes the index of a field. Throws `invalid` for a field that there is none of. */
export const writeIndex = (plan: FieldIndexPlan): null => {
  try {
    writeFieldIndex(plan);
    return null;
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    throw new AppError('invalid', error.detail, { cause: error });
  }
};

export const outOfMemory =
  'the query takes more memory than there is for one: ask for fewer values, or for rows by a field with an index';
