/**
 * Supervised loop: it runs a tick, waits, and runs the next; a nudge ends the wait early and carries no data. A failed
 * tick is logged once and retried after growing, jittered pauses. No nudge cuts these short, since the same fault may
 * cause the nudges. The result or error of the last tick can be read at any time.
 */
import { backoffMs } from '#domain/backoff.ts';
import { describeError } from '#domain/error.ts';
import type { Log } from './log.ts';
import { pause } from './pause.ts';

export type LoopOptions<Status> = {
  name: string;
  /** Wait between two ticks, in milliseconds; 0 for a tick that waits by itself (a long poll). */
  everyMs: number;
  /** Longest pause after failures in a row, in milliseconds. */
  maxBackoffMs?: number;
  tick: (signal: AbortSignal) => Promise<Status>;
  log: Log;
  /** Waits for so many milliseconds; only tests replace it. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** State of a loop. Times are ISO 8601 in UTC. */
export type LoopStatus<Status> = {
  name: string;
  ticks: number;
  failures: number;
  failuresInARow: number;
  /** Result of the last successful tick, and the error of the last tick, if it failed. */
  last: Status | undefined;
  lastError: string | undefined;
  /** Start and length of the last tick, and the end of the last successful one. */
  beganAt: string | undefined;
  tookMs: number | undefined;
  succeededAt: string | undefined;
  isStopped: boolean;
};

export type Loop<Status> = {
  /** Runs the next tick as soon as the present one has ended, or after the pause that a failure requires. */
  nudge(): void;
  status(): LoopStatus<Status>;
  /** Aborts the current tick and resolves when it has ended. */
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
