/**
 * A mutex for asynchronous work: first come, first served. Whoever waits holds nothing else, so there
 * is no way to deadlock but to ask again from inside, which callers must refuse themselves.
 */
export type Lock = {
  run<Value>(work: () => Value | Promise<Value>): Promise<Value>;
  /** Whether nobody holds it or waits for it, so that work which takes no time needs no turn. */
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
