/**
 * Mutex for asynchronous work, first come, first served. A waiter holds no other lock, so a deadlock arises only if the
 * holder requests the lock again. Callers must refuse that themselves.
 */
export type Lock = {
  run<Value>(work: () => Value | Promise<Value>): Promise<Value>;
  /** Returns true if the lock is neither held nor waited for, so that synchronous work may run without it. */
  isFree(): boolean;
};

export const createLock = (): Lock => {
  let last: Promise<unknown> = Promise.resolve();
  let turns = 0;
  const leave = (): void => {
    turns -= 1;
  };
  return {
    isFree: () => turns === 0,
    run(work) {
      turns += 1;
      const result = last.then(work);
      last = result.then(leave, leave);
      return result;
    },
  };
};
