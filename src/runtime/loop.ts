/**
 * A supervised loop: it runs a tick, waits, and runs the next; a nudge ends the wait early and
 * carries no data. A tick that throws is logged once and retried with growing, jittered pauses, which no
 * nudge cuts short: whoever nudges may do so because of the very fault. What the last tick returned or
 * threw can be read at any time.
 */
import { backoffMs } from '#domain/backoff.ts';
import { describeError } from '#domain/error.ts';
import type { Log } from './log.ts';
import { pause } from './pause.ts';

export type LoopOptions<Status> = {
  name: string;
  /** Wait between two ticks, in milliseconds; 0 for a tick that waits by itself (a long poll). */
  everyMs: number;
  /** Longest pause after failures in a row. */
  maxBackoffMs?: number;
  tick: (signal: AbortSignal) => Promise<Status>;
  log: Log;
  /** How it waits; another only in tests. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** What a loop has done. Times are ISO 8601 in UTC. */
export type LoopStatus<Status> = {
  name: string;
  ticks: number;
  failures: number;
  failuresInARow: number;
  /** What the last good tick returned, and what the last tick threw, if it did. */
  last: Status | undefined;
  lastError: string | undefined;
  /** When the last tick began, how long it took, and when one last ended well. */
  beganAt: string | undefined;
  tookMs: number | undefined;
  succeededAt: string | undefined;
  isStopped: boolean;
};

export type Loop<Status> = {
  /** Runs the next tick as soon as the present one has ended, or after the pause that a failure asks for. */
  nudge(): void;
  status(): LoopStatus<Status>;
  /** Aborts the tick under way and resolves when it has ended. */
  stop(): Promise<void>;
};

const firstBackoffMs = 50;

/** Starts a loop at once. */
export const startLoop = <Status>(options: LoopOptions<Status>): Loop<Status> => {
  const { wait = pause } = options;
  const stopping = new AbortController();
  let waiting = new AbortController();
  let nudged = false;
  const status: LoopStatus<Status> = {
    name: options.name,
    ticks: 0,
    failures: 0,
    failuresInARow: 0,
    last: undefined,
    lastError: undefined,
    beganAt: undefined,
    tookMs: undefined,
    succeededAt: undefined,
    isStopped: false,
  };

  const runTick = async (): Promise<void> => {
    const beganAt = performance.now();
    status.beganAt = new Date().toISOString();
    try {
      status.last = await options.tick(stopping.signal);
      status.failuresInARow = 0;
      status.lastError = undefined;
      status.succeededAt = new Date().toISOString();
    } catch (error) {
      if (stopping.signal.aborted) return;
      status.failures += 1;
      status.failuresInARow += 1;
      const message = describeError(error);
      const isNew = message !== status.lastError;
      status.lastError = message;
      options.log[isNew ? 'warn' : 'debug']({ err: error, loop: options.name }, 'tick failed');
    }
    status.tookMs = performance.now() - beganAt;
    status.ticks += 1;
  };

  const waitMs = (): number => {
    if (status.failuresInARow === 0) return options.everyMs;
    const mostMs = options.maxBackoffMs ?? 2_000;
    return backoffMs(status.failuresInARow, { firstMs: firstBackoffMs, mostMs });
  };

  const rest = async (): Promise<void> => {
    const ms = waitMs();
    if (status.failuresInARow > 0) return wait(ms, stopping.signal);
    if (nudged || ms === 0) return;
    await wait(ms, AbortSignal.any([stopping.signal, waiting.signal]));
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      nudged = false;
      waiting = new AbortController();
      await runTick();
      await rest();
    }
  };
  const done = run();

  return {
    nudge() {
      nudged = true;
      waiting.abort();
    },
    status: () => ({ ...status }),
    async stop() {
      stopping.abort();
      await done;
      status.isStopped = true;
    },
  };
};
