/**
 * The world store: the rows of one world, under its contract, in a SQLite database in memory; of a large
 * world, what was changed is there, upon a file of base rows.
 *
 * Work on it is serialised by its own lock. Writes happen inside `atomically` only; a read that must
 * not see the middle of another caller's transaction goes through `exclusively`. The methods
 * themselves are synchronous, so that user code's accesses run inside the transaction of its call.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Digest } from '#domain/world.ts';
import { assembleStore, type StoreOptions, type StoreReader } from './assemble.ts';
import { createLock } from './lock.ts';
import { digestOfSum } from './read/state-digest.ts';
import type { StateBefore } from './write/state-before.ts';
import type { Changes, Mark } from './write/transaction.ts';
import type { Writer } from './write/write.ts';

export type WorldStore = StoreReader &
  Writer &
  StateBefore & {
    /**
     * Runs `work` as one transaction, after those under way: all its writes are kept, or none when it
     * throws or leaves a foreign key dangling. Refuses to be nested.
     */
    atomically<Value>(work: () => Value | Promise<Value>): Promise<{ value: Value } & Changes>;
    /** Runs `work` while no transaction is under way. Refuses to be nested. */
    exclusively<Value>(work: () => Value | Promise<Value>): Promise<Value>;
    /** Whether `atomicallyNow` can be asked, and whatever is read at once is whole: no transaction is under way or waited for. */
    isIdle(): boolean;
    /** As `atomically`, of work that is done at once. Throws unless the store is idle. */
    atomicallyNow<Value>(work: () => Value): { value: Value } & Changes;
    /** Remembers the present state: `base` first, `task` on top of it. */
    mark(mark: Mark): void;
    /** Forgets everything since the mark, at the cost of what was changed; `base` also forgets `task`. */
    rollBackTo(mark: Mark): void;
    /** Names the whole state: equal digests, equal rows. Kept up to date with each transaction. */
    digest(): Digest;
    /** The same, computed from the rows that are there now; upon a file, from those that may differ from it. */
    scanDigest(): Digest;
    close(): void;
  };

/** Opens a store. Throws when the snapshot is not one of this program's. */
export const openWorldStore = (options: StoreOptions): WorldStore => {
  const { reader, writer, transactions, scan, close } = assembleStore(options);
  const lock = createLock();
  const holder = new AsyncLocalStorage<true>();

  const exclusively: WorldStore['exclusively'] = async (work) => {
    if (holder.getStore()) throw new Error('the store is asked to wait for itself');
    return lock.run(() => holder.run(true, work));
  };

  return {
    ...reader,
    ...writer,
    exclusively,
    atomically: (work) =>
      exclusively(async () => {
        transactions.begin();
        try {
          const value = await work();
          return { value, ...transactions.commit() };
        } catch (error) {
          transactions.rollBack();
          throw error;
        }
      }),
    isIdle: lock.isFree,
    atomicallyNow(work) {
      if (!lock.isFree()) throw new Error('the store is not idle');
      transactions.begin();
      try {
        const value = work();
        return { value, ...transactions.commit() };
      } catch (error) {
        transactions.rollBack();
        throw error;
      }
    },
    mark: transactions.mark,
    rollBackTo: transactions.rollBackTo,
    changesSinceTask: transactions.changesSinceTask,
    rowAtTask: transactions.rowAtTask,
    digest: () => digestOfSum(transactions.sum()),
    scanDigest: () => digestOfSum(scan()),
    close,
  };
};
