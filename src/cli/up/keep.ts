/**
 * Keeps something running: if it ends by itself it is started again, after pauses that grow while it keeps failing.
 * The caller defines what it is and how it starts.
 */
import { describeError } from '#domain/error.ts';
import { pause } from '#runtime/pause.ts';
import { sendSignal } from './processes.ts';

/** Running child process or database server. */
export type Started = {
  pid: number;
  /** Resolves when it has ended, for any reason. */
  ended: Promise<void>;
  /**
   * Asks it to end, and kills it after the deadline. Resolves when it has ended. True means that it ended by itself
   * with success, so all its work was done.
   */
  stop(deadlineMs: number): Promise<boolean>;
};

export type KeepOptions = {
  /** Name for messages: `control plane`. */
  name: string;
  /** Resolves once it is up. If the signal aborts, gives up and leaves nothing behind. */
  start(signal: AbortSignal): Promise<Started>;
  /** Called with a message when it has ended by itself, and when it is up again. */
  say(message: string): void;
  /** Waits between starts; replaced only in tests. */
  wait?(ms: number, signal: AbortSignal): Promise<void>;
};

export type Kept = {
  /** Returns the process id; undefined between an end and the next start. */
  pid(): number | undefined;
  /** Stops it as `Started.stop` does; false if it had already ended. */
  stop(deadlineMs: number): Promise<boolean>;
  /** Kills it at once, without waiting for its end. */
  kill(): void;
};

const firstBackoffMs = 200;
const maxBackoffMs = 10_000;
/** Uptime after which the growing pauses are reset. */
const steadyMs = 30_000;

/** Starts it, and keeps it running once it is up. Throws the error of the first start. */
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
