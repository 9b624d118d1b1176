/**
 * Keeps something running: when it ends by itself it is started again, after pauses that grow while
 * it keeps ending. What it is, and how it starts, is the caller's.
 */
import { describeError } from '#domain/error.ts';
import { pause } from '#runtime/pause.ts';
import { sendSignal } from './processes.ts';

/** Something that runs: a child process, a database server. */
export type Started = {
  pid: number;
  /** Resolves when it has ended, for whatever reason. */
  ended: Promise<void>;
  /**
   * Asks it to end; after the deadline it is killed. Resolves when it has ended: true when it did so by
   * itself and says that it has done all that it had to.
   */
  stop(deadlineMs: number): Promise<boolean>;
};

export type KeepOptions = {
  /** For messages: `control plane`. */
  name: string;
  /** Resolves once it is up; gives up, leaving nothing, when the signal aborts. */
  start(signal: AbortSignal): Promise<Started>;
  /** Told when it has ended by itself, and when it is up again. */
  say(message: string): void;
  /** How it waits between starts; another only in tests. */
  wait?(ms: number, signal: AbortSignal): Promise<void>;
};

export type Kept = {
  /** Process id of what runs now; undefined between an end and the next start. */
  pid(): number | undefined;
  /** As `Started.stop`; false when it had ended already. */
  stop(deadlineMs: number): Promise<boolean>;
  /** Kills it at once, without waiting for its end. */
  kill(): void;
};

const firstBackoffMs = 200;
const maxBackoffMs = 10_000;
/** What ran so long starts again without the pauses of earlier failures. */
const steadyMs = 30_000;

/** Starts it, once up keeps it. Throws what `start` throws the first time. */
export const keepRunning = async (options: KeepOptions, signal: AbortSignal): Promise<Kept> => {
  const { name, start, say, wait = pause } = options;
  const stopping = new AbortController();
  let current: Started | undefined = await start(signal);
  let startedAt = performance.now();
  let backoffMs = firstBackoffMs;

  const restart = async (): Promise<void> => {
    await wait(backoffMs, stopping.signal);
    if (stopping.signal.aborted) return;
    backoffMs = Math.min(backoffMs * 2, maxBackoffMs);
    try {
      current = await start(stopping.signal);
      startedAt = performance.now();
      say(`the ${name} is up again`);
    } catch (error) {
      if (!stopping.signal.aborted) say(describeError(error));
    }
  };

  const keep = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await current?.ended;
      if (stopping.signal.aborted) return;
      if (current !== undefined) {
        current = undefined;
        if (performance.now() - startedAt > steadyMs) backoffMs = firstBackoffMs;
        say(`the ${name} ended by itself and is started again`);
      }
      await restart();
    }
  };
  const kept = keep();

  return {
    pid: () => current?.pid,
    async stop(deadlineMs) {
      stopping.abort();
      await current?.stop(deadlineMs);
      await kept;
      return (await current?.stop(deadlineMs)) ?? false;
    },
    kill() {
      stopping.abort();
      if (current !== undefined) sendSignal(current.pid, 'SIGKILL');
    },
  };
};
