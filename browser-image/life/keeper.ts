/**
 * Keeps the last checkpoint of a browser. A new one is taken a second after something may have changed. If the browser
 * is lost, only its last second or two are lost with it.
 */
import { describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { Checkpoint } from '../watch/checkpoint.ts';

export type Keeper = {
  /** Records that something may have changed, so that a checkpoint follows. */
  touch(): void;
  /** Takes a checkpoint at once and resolves with it. */
  take(): Promise<Checkpoint>;
  last(): Checkpoint | undefined;
  /** Replaces the last checkpoint; undefined removes it. */
  set(checkpoint: Checkpoint | undefined): void;
  stop(): void;
};

export type KeeperOptions = {
  /** Delay between a change and its checkpoint, at most 5,000 ms. */
  afterMs: number;
  /** Takes a checkpoint, given the previous one. Throws if none can be taken now. */
  take(before: Checkpoint | undefined): Promise<Checkpoint>;
  /** Returns true if there is a browser to take a checkpoint of. */
  isTakeable(): boolean;
  /** Called with each checkpoint that differs from the previous one. */
  onCheckpoint(checkpoint: Checkpoint): void;
  log: Log;
};

const contentOf = ({ at: _, ...content }: Checkpoint): string => JSON.stringify(content);

/** Creates a keeper, which has no checkpoint at first. */
export const createKeeper = ({
  afterMs,
  take,
  isTakeable,
  onCheckpoint,
  log,
}: KeeperOptions): Keeper => {
  let timer: NodeJS.Timeout | undefined;
  let last: Checkpoint | undefined;
  /** Number of replacements by `set`. A checkpoint that was begun before the latest replacement is discarded. */
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
