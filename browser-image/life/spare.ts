/**
 * A second Chromium that stands ready while the first serves a session, so that one that is lost, or reset, has its
 * successor at once. It has a profile of its own that nobody has used. It costs its memory, so there is one only where
 * the program is told so; it is started a while after the first was, when that has become quiet.
 */
import { describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { Instance } from './instance.ts';

export type Spare = {
  /** Has one started in a while, unless there is one. */
  want(): void;
  /** Gives it away, if it stands. */
  take(): Instance | undefined;
  stands(): boolean;
  /** Ends it, and wants none from then on until somebody does. */
  discard(): Promise<void>;
};

export type SpareOptions = {
  /** How long after it was wanted it is started. */
  afterMs: number;
  start(): Promise<Instance>;
  log: Log;
};

/** Without one. */
export const noSpare: Spare = {
  want: () => undefined,
  take: () => undefined,
  stands: () => false,
  discard: async () => undefined,
};

/** One that is ended by others, as by a shortage of memory, is started so often and then no more. */
const mostStarts = 3;

/** Keeps a spare, once it is wanted. */
export const createSpare = ({ afterMs, start, log }: SpareOptions): Spare => {
  let timer: NodeJS.Timeout | undefined;
  let starting: Promise<void> | undefined;
  let instance: Instance | undefined;
  let isWanted = false;
  let startsLeft = mostStarts;

  const onEnd = (ended: Instance): void => {
    if (instance !== ended) return;
    instance = undefined;
    void ended.stop(); // its folder goes, too
    if (isWanted) plan();
  };

  const bring = async (): Promise<void> => {
    try {
      const started = await start();
      if (!isWanted || started.isGone()) {
        await started.stop();
        return;
      }
      instance = started;
      void started.ended.then(() => onEnd(started));
    } catch (error) {
      log.warn({ error: describeError(error) }, 'a spare browser did not come up');
    }
  };

  const plan = (): void => {
    if (timer !== undefined || starting !== undefined || instance !== undefined) return;
    if (startsLeft === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      startsLeft -= 1;
      starting = bring().finally(() => {
        starting = undefined;
      });
    }, afterMs);
  };

  return {
    want() {
      isWanted = true;
      startsLeft = mostStarts;
      plan();
    },
    take() {
      const taken = instance;
      instance = undefined;
      return taken?.isGone() === false ? taken : undefined;
    },
    stands: () => instance !== undefined,
    async discard() {
      isWanted = false;
      clearTimeout(timer);
      timer = undefined;
      await starting;
      const ending = instance;
      instance = undefined;
      await ending?.stop();
    },
  };
};
