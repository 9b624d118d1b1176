/**
 * Transactions and marks of a store, all of them savepoints of one outer SQLite transaction that is never committed.
 * There is one savepoint for the base mark, one for the task mark, and one for the current work. The last begins with
 * the first write, because most work only reads.
 *
 * SQLite's journal then has just the pages changed since each savepoint, so rolling back costs what was changed. The
 * sum of the state digest and the row counts are updated and rolled back with the rows.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { ChangeCounts } from '#domain/call.ts';
import { addHash, rowHash, subtractHash } from '../read/state-digest.ts';
import type { Outermost } from '../tables/base-file.ts';
import type { Catalog } from '../tables/catalog.ts';
import type { Statements } from '../tables/statements.ts';
import type { ChangeLog } from './change-log.ts';
import type { FreeSpace } from './free-space.ts';
import type { Positions } from './positions.ts';
import { checkReferences } from './references.ts';
import type { RowCounts } from './row-counts.ts';
import type { BeforeLog, StateBefore } from './state-before.ts';
import type { TouchedRows } from './touched-rows.ts';
import {
  countChanges,
  createWriteSet,
  type RowChange,
  rowChanges,
  type TouchedRow,
  type WriteSet,
} from './write-set.ts';

/** `base`: the world as its version holds it. `task`: with the seed of the session's task on top. */
export type Mark = 'base' | 'task';

export type Changes = { changes: ChangeCounts; rows: RowChange[] };

export type Transactions = StateBefore & {
  begin(): void;
  /** Checks the foreign keys of the written rows, and commits them. Throws `StoreRefusal`. */
  commit(): Changes;
  rollBack(): void;
  /**
   * Returns the write set of the current transaction; must be called before each write. Throws if there is no
   * transaction.
   */
  writeSet(): WriteSet;
  /** Returns true if there is a current transaction that has written. */
  isWriting(): boolean;
  mark(mark: Mark): void;
  rollBackTo(mark: Mark): void;
  sum(): bigint;
};

/** State that is updated with the rows and rolled back with them. */
export type Followers = {
  positions: Positions;
  changes: Pick<ChangeLog, 'begin' | 'rollBack' | 'changeAll'>;
  counts: RowCounts;
  freeSpace: Pick<FreeSpace, 'measure'>;
  touched: Pick<TouchedRows, 'forget'>;
  outermost: Outermost;
  before: BeforeLog;
  /** Sum of the state digest over the initial rows. */
  sum: bigint;
};

type Marked = {
  sum: bigint;
  positions: ReturnType<Positions['save']>;
  counts: ReturnType<RowCounts['save']>;
};

const applyTo = (sum: bigint, { entity, key, before, after }: TouchedRow): bigint => {
  const without = before === undefined ? sum : subtractHash(sum, rowHash(entity.name, key, before));
  return after === undefined ? without : addHash(without, rowHash(entity.name, key, after));
};

export const createTransactions = (
  db: DatabaseSync,
  catalog: Catalog,
  prepare: Statements,
  { changes, counts, positions, freeSpace, touched, outermost, before, sum: initialSum }: Followers,
): Transactions => {
  let sum = initialSum;
  let written: WriteSet | undefined;
  /** True if the current work has begun its savepoint. */
  let isWriting = false;
  const marks = new Map<Mark, Marked>();

  const refuseInside = (what: string): void => {
    if (written !== undefined) throw new Error(`${what} inside a transaction of the store`);
  };

  return {
    begin() {
      refuseInside('a transaction began');
      outermost.check();
      isWriting = false;
      changes.begin();
      written = createWriteSet();
    },
    commit() {
      if (written === undefined) throw new Error('no transaction to commit');
      const changed = written.changed();
      checkReferences(catalog, prepare, changed);
      outermost.check();
      before.record(changed);
      if (isWriting) prepare('RELEASE work').run();
      written = undefined;
      sum = changed.reduce(applyTo, sum);
      counts.apply(changed);
      const rows = rowChanges(changed);
      return { rows, changes: countChanges(rows) };
    },
    rollBack() {
      written = undefined;
      if (isWriting) db.exec('ROLLBACK TO work; RELEASE work');
      changes.rollBack();
    },
    writeSet() {
      if (written === undefined) throw new Error('a write to the store needs a transaction');
      outermost.check();
      if (!isWriting) {
        prepare('SAVEPOINT work').run();
        isWriting = true;
        freeSpace.measure();
      }
      return written;
    },
    isWriting: () => written !== undefined && isWriting,
    mark(mark) {
      refuseInside(`mark "${mark}"`);
      if (marks.has(mark)) throw new Error(`the store has its mark "${mark}" already`);
      if (mark === 'task' && !marks.has('base')) throw new Error('mark "task" needs mark "base"');
      outermost.check();
      db.exec(`SAVEPOINT ${mark}`);
      if (mark === 'task') before.begin();
      marks.set(mark, { sum, positions: positions.save(), counts: counts.save() });
    },
    rollBackTo(mark) {
      refuseInside(`going back to mark "${mark}"`);
      const marked = marks.get(mark);
      if (marked === undefined) throw new Error(`the store has no mark "${mark}"`);
      if (mark === 'task') {
        db.exec('ROLLBACK TO task');
        before.forget();
      } else {
        db.exec('ROLLBACK');
        outermost.begin();
        db.exec('SAVEPOINT base');
        marks.delete('task');
        before.end();
        touched.forget();
      }
      changes.changeAll();
      sum = marked.sum;
      positions.restore(marked.positions);
      counts.restore(marked.counts);
    },
    changesSinceTask() {
      refuseInside('the changes were asked for');
      return before.changes();
    },
    rowAtTask(entity, key) {
      refuseInside('a row of before was asked for');
      return before.rowAt(entity, key);
    },
    sum: () => sum,
  };
};
