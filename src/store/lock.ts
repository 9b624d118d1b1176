/**
 * A mutex for asynchronous work: first come, first served. Whoever waits holds nothing else, so there
 * is no way to deadlock but to ask again from inside, which callers must refuse themselves.
 */
export type Lock = {
  run<Value>(work: () => Value | Promise<Value>): Promise<Value>;
};

export const createLock = (): Lock => {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(work) {
      const result = last.then(work);
      last = result.then(
        () => undefined,
        () => undefined,
      );
      return result;
    },
  };
};
