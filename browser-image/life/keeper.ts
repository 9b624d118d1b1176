/**
 * Keeps the last checkpoint of a browser: a second after something may have changed it is taken anew, so that what is
 * lost with a browser is what happened in its last second or two.
 */
import { describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { Checkpoint } from '../watch/checkpoint.ts';

export type Keeper = {
  /** Something may have changed. */
  touch(): void;
  /** Takes a checkpoint at once and resolves with it. */
  take(): Promise<Checkpoint>;
  last(): Checkpoint | undefined;
  /** Forgets what was kept, and goes on from this one if there is one. */
  set(checkpoint: Checkpoint | undefined): void;
  stop(): void;
};

export type KeeperOptions = {
  /** How long after a change a checkpoint is taken, at most 5,000 ms. */
  afterMs: number;
  /** Takes a checkpoint, given the one before. Throws when it cannot be taken now. */
  take(before: Checkpoint | undefined): Promise<Checkpoint>;
  /** Whether there is a browser that a checkpoint could be taken of. */
  isTakeable(): boolean;
  /** Called with each checkpoint that differs from the one before. */
  onCheckpoint(checkpoint: Checkpoint): void;
  log: Log;
};

const contentOf = ({ at: _, ...content }: Checkpoint): string => JSON.stringify(content);

/** Makes a keeper, with nothing kept. */
export const createKeeper = ({
  afterMs,
  take,
  isTakeable,
  onCheckpoint,
  log,
}: KeeperOptions): Keeper => {
  let timer: NodeJS.Timeout | undefined;
  let last: Checkpoint | undefined;
  /** Counts what was begun, so that what ends late is not taken for the present. */
  let era = 0;
  let isStopped = false;

  const takeNow = async (): Promise<Checkpoint> => {
    const begun = era;
    const taken = await take(last);
    if (begun !== era) return taken;
    const isNew = last === undefined || contentOf(last) !== contentOf(taken);
    last = taken;
    if (isNew) onCheckpoint(taken);
    return taken;
  };

  const onTime = (): void => {
    timer = undefined;
    if (!isTakeable()) return;
    takeNow().catch((error: unknown) => {
      log.debug({ error: describeError(error) }, 'no checkpoint was taken');
      touch();
    });
  };

  const touch = (): void => {
    if (!isStopped) timer ??= setTimeout(onTime, afterMs);
  };

  return {
    touch,
    take: takeNow,
    last: () => last,
    set(checkpoint) {
      era += 1;
      last = checkpoint;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};
