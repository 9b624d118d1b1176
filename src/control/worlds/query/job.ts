/**
 * Runs the queries of one process. It answers one plan after another, and keeps a few store files open, with the
 * contracts that they were made by. A file that no query has used for a while is closed: other processes may have
 * deleted it, and it would occupy disk space for this process alone.
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
  /** Contracts by the names that targets use; sent only if the process lacks one. */
  contracts?: Record<string, ReadContract>;
};

/** Upper bound for open files; one version with all its links fits. */
const mostOpen = 24;
const closedAfterMs = 60_000;

/** Memory limit of SQLite for all files together, for sorting and for pages that are not mapped. */
const sqliteHeapBytes = 192 * 1024 * 1024;
const sqliteNoMemory = 7;

const boundMemory = (): void => {
  const db = new DatabaseSync(':memory:');
  db.exec(`PRAGMA hard_heap_limit = ${sqliteHeapBytes}`);
  db.close();
};

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === sqliteNoMemory;

/**
 * Creates the function that answers the queries of one process. It throws `Lacking` for a file whose contract the
 * process lacks.
 */
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

/** Writes the index of a field. Throws `invalid` for a field that does not exist. */
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
  'the query takes more memory than it may: request fewer values, or for rows by a field with an index';
