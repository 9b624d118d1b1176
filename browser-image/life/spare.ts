/**
 * Keeps a second Chromium ready while the first serves a session, so that a lost or reset browser is replaced at once.
 * The spare has an unused profile of its own. It costs memory, so it exists only if the configuration asks for it. It
 * starts some time after the first Chromium, when that one has become quiet.
 */
import { describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { Instance } from './instance.ts';

export type Spare = {
  /** Requests a spare browser. Unless there is one already, it starts after a delay. */
  want(): void;
  /** Hands over the spare; returns undefined if none is ready. */
  take(): Instance | undefined;
  stands(): boolean;
  /** Ends the spare, and starts no other until one is requested again. */
  discard(): Promise<void>;
};

export type SpareOptions = {
  /** Delay between the request and the start, in milliseconds. */
  afterMs: number;
  start(): Promise<Instance>;
  log: Log;
};

/** Implementation of `Spare` that never has a spare. */
export const noSpare: Spare = {
  want: () => undefined,
  take: () => undefined,
  stands: () => false,
  discard: async () => undefined,
};

/** Maximum number of starts per request. A spare may be killed from outside, for example for lack of memory. */
const mostStarts = 3;

/** Makes the keeper of a spare, which starts one when it is requested. */
export const createSpare = ({ afterMs, start, log }: SpareOptions): Spare => {
  let timer: NodeJS.Timeout | undefined;
  let starting: Promise<void> | undefined;
  let instance: Instance | undefined;
  let isWanted = false;
  let startsLeft = mostStarts;

  const onEnd = (ended: Instance): void => {
    if (instance !== ended) return;
    instance = undefined;
    void ended.stop(); // removes its folder, too
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
      log.warn({ error: describeError(error) }, 'a spare browser did not start');
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
