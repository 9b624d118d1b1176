/**
 * Keeps a part of the service running: if it ends by itself, it is started again, after pauses that grow while it keeps
 * failing. The caller defines what the part is and how it starts.
 */
import { describeError } from '#domain/error.ts';
import { pause } from '#runtime/pause.ts';
import { sendSignal } from './processes.ts';

/** A running part: a child process or a database server. */
export type Started = {
  pid: number;
  /** Resolves when the part has ended, for any reason. */
  ended: Promise<void>;
  /**
   * Asks the part to end, and kills it after the deadline. Resolves when it has ended. The result is true if it ended
   * without being killed and with success, so that all its work was done.
   */
  stop(deadlineMs: number): Promise<boolean>;
};

export type KeepOptions = {
  /** Name of the part in messages, such as `control plane`. */
  name: string;
  /** Starts the part, and resolves once it is up. If the signal aborts, stops trying and leaves nothing behind. */
  start(signal: AbortSignal): Promise<Started>;
  /** Called with a message when the part has ended by itself, and when it is up again. */
  say(message: string): void;
  /** Waits between starts; only tests replace it. */
  wait?(ms: number, signal: AbortSignal): Promise<void>;
};

export type Kept = {
  /** Returns the process id of the part; undefined between its end and the next start. */
  pid(): number | undefined;
  /** Stops the part as `Started.stop` does. Returns false if it had already ended. */
  stop(deadlineMs: number): Promise<boolean>;
  /** Kills the part at once, without waiting for its end. */
  kill(): void;
};

const firstBackoffMs = 200;
const maxBackoffMs = 10_000;
/** Uptime after which the pauses are short again, in milliseconds. */
const steadyMs = 30_000;

/** Starts the part, and keeps it running once it is up. Throws the error of the first start. */
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
        say(`the ${name} ended by itself and is being restarted`);
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
