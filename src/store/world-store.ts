/**
 * World store: the rows of one world, under its contract, in a SQLite database in memory. For a large world, memory has
 * only the changes, on top of a file of base rows. The store's own lock serialises work. Writes happen inside
 * `atomically` only; a read that must not see another caller's unfinished transaction uses `exclusively`.
 *
 * The methods themselves are synchronous, so that accesses by user code run inside the transaction of their call.
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
     * Runs `work` as one transaction, after the transactions requested before it. If `work` throws or leaves a foreign
     * key dangling, all its writes are undone. Refuses to be nested.
     */
    atomically<Value>(work: () => Value | Promise<Value>): Promise<{ value: Value } & Changes>;
    /** Runs `work` while no transaction is in progress. Refuses to be nested. */
    exclusively<Value>(work: () => Value | Promise<Value>): Promise<Value>;
    /**
     * Returns true if no transaction is in progress or waiting. Then `atomicallyNow` is allowed, and a synchronous
     * read sees no partial transaction.
     */
    isIdle(): boolean;
    /** Runs synchronous work as `atomically` does. Throws unless the store is idle. */
    atomicallyNow<Value>(work: () => Value): { value: Value } & Changes;
    /** Sets a mark on the present state: `base` first, `task` on top of it. */
    mark(mark: Mark): void;
    /** Rolls back to the mark, at the cost of what was changed since; rolling back to `base` also removes `task`. */
    rollBackTo(mark: Mark): void;
    /** Returns the digest of the whole state; equal digests mean equal rows. Each transaction updates the digest. */
    digest(): Digest;
    /**
     * Returns the digest of the whole state, computed from the present rows; on a base file, only from rows that may
     * differ from the file's.
     */
    scanDigest(): Digest;
    close(): void;
  };

/** Opens a store. Throws if the snapshot was not made by this program. */
export const openWorldStore = (options: StoreOptions): WorldStore => {
  const { reader, writer, transactions, scan, close } = assembleStore(options);
  const lock = createLock();
  const holder = new AsyncLocalStorage<true>();

  const exclusively: WorldStore['exclusively'] = async (work) => {
    if (holder.getStore())
      throw new Error('a transaction of the store cannot be nested in another');
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
