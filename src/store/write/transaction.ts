/**
 * A store's transactions and marks, all of them savepoints of one outer SQLite transaction that is
 * never committed: base mark, task mark, and one savepoint for the work under way, which begins with its first write:
 * most only read. SQLite's journal then holds just the pages changed since each, so going back costs what was
 * changed.
 *
 * The sum of the state digest and the counts of rows follow them through all of it.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { ChangeCounts } from '#domain/call.ts';
import { addHash, rowHash, subtractHash } from '../read/state-digest.ts';
import type { Outermost } from '../tables/base-file.ts';
import type { Catalog } from '../tables/catalog.ts';
import type { Statements } from '../tables/statements.ts';
import type { ChangeLog } from './change-log.ts';
import type { Positions } from './positions.ts';
import { checkReferences } from './references.ts';
import type { Room } from './room.ts';
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
  /** Checks the foreign keys of what was written and keeps it. Throws `StoreRefusal`. */
  commit(): Changes;
  rollBack(): void;
  /** The write set of the transaction under way, to be asked for before each write. Throws when there is none. */
  writeSet(): WriteSet;
  /** Whether the transaction under way, if there is one, has written. */
  isWriting(): boolean;
  mark(mark: Mark): void;
  rollBackTo(mark: Mark): void;
  sum(): bigint;
};

/** What follows the rows, and goes back with them. */
export type Followers = {
  positions: Positions;
  changes: Pick<ChangeLog, 'begin' | 'rollBack' | 'changeAll'>;
  counts: RowCounts;
  room: Pick<Room, 'measure'>;
  touched: Pick<TouchedRows, 'forget'>;
  outermost: Outermost;
  before: BeforeLog;
  /** Sum of the state digest over the rows that are there at first. */
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
  { changes, counts, positions, room, touched, outermost, before, sum: initialSum }: Followers,
): Transactions => {
  let sum = initialSum;
  let written: WriteSet | undefined;
  /** Whether the work under way has its savepoint. */
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
        room.measure();
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
