/**
 * The world store: the rows of one world, under its contract, in a SQLite database in memory.
 *
 * Work on it is serialised by its own lock. Writes happen inside `atomically` only; a read that must
 * not see the middle of another caller's transaction goes through `exclusively`. The methods
 * themselves are synchronous, so that user code's accesses run inside the transaction of its call.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Digest } from '#domain/world.ts';
import type { Contract } from '#language/contract.ts';
import { assembleStore, type StoreReader } from './assemble.ts';
import { createLock } from './lock.ts';
import { copySnapshot, scanSum } from './scan.ts';
import { digestOfSum } from './state-digest.ts';
import type { Changes, Mark } from './transaction.ts';
import type { Writer } from './write.ts';

export type WorldStore = StoreReader &
  Writer & {
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
    /** The same, computed from every row that is there now. */
    scanDigest(): Digest;
    /** The present state as bytes that `openWorldStore` opens. */
    snapshot(): Uint8Array;
    close(): void;
  };

export type OpenOptions = {
  contract: Contract;
  /** Bytes that `snapshot()` made; without them every table is empty. */
  snapshot?: Uint8Array | undefined;
};

/** Opens a store. Throws when the snapshot is not one of this program's. */
export const openWorldStore = ({ contract, snapshot }: OpenOptions): WorldStore => {
  const { db, catalog, reader, writer, transactions } = assembleStore(contract, snapshot);
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
    digest: () => digestOfSum(transactions.sum()),
    scanDigest: () => digestOfSum(scanSum(db, catalog)),
    snapshot: () => copySnapshot(db, contract, catalog, transactions.sum(), reader.keptNumbers()),
    close: () => db.close(),
  };
};
