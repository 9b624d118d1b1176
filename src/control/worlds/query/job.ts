/**
 * Runs the queries of one process, one after another. The process keeps a few store files open, with the contracts of
 * their versions. It closes a file that no query has used for a while. Other processes may have deleted the file, and
 * this process alone would then still occupy its disk space.
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
  /** Contracts, by the names that targets use for them. They are sent only if the process lacks one of them. */
  contracts?: Record<string, ReadContract>;
};

/** Maximum number of open files; enough for one version with all its links. */
const mostOpen = 24;
const closedAfterMs = 60_000;

/** Memory limit of SQLite for all files together, in bytes. It covers sorting and pages that are not memory-mapped. */
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
 * Creates the function that answers the queries of one process. The function throws `Lacking` for a file whose contract
 * the process does not have.
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

/** Writes the index of a field. Throws `invalid` if the field does not exist. */
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
  'the query takes more memory than is allowed: request fewer rows, or filter by a field with an index';
