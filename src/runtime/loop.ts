/**
 * Supervised loop: runs a tick, waits, and runs the next tick. A nudge ends the wait early and carries no data. A
 * failed tick is logged once and retried after pauses that grow and are jittered. A nudge does not shorten these
 * pauses, because the fault that makes ticks fail may also cause nudges. The result or error of the last tick can be
 * read at any time.
 */
import { backoffMs } from '#domain/backoff.ts';
import { describeError } from '#domain/error.ts';
import type { Log } from './log.ts';
import { pause } from './pause.ts';

export type LoopOptions<Status> = {
  name: string;
  /** Wait between two ticks, in milliseconds; 0 if the tick itself waits (a long poll). */
  everyMs: number;
  /** Maximum pause after consecutive failures, in milliseconds. */
  maxBackoffMs?: number;
  tick: (signal: AbortSignal) => Promise<Status>;
  log: Log;
  /** Waits for `ms` milliseconds; only tests replace it. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** State of a loop. Times are in ISO 8601 in UTC. */
export type LoopStatus<Status> = {
  name: string;
  ticks: number;
  failures: number;
  failuresInARow: number;
  /** Result of the last tick that succeeded; and error of the last tick, if that failed. */
  last: Status | undefined;
  lastError: string | undefined;
  /** Start and duration of the last tick, and end of the last tick that succeeded. */
  beganAt: string | undefined;
  tookMs: number | undefined;
  succeededAt: string | undefined;
  isStopped: boolean;
};

export type Loop<Status> = {
  /** Runs the next tick as soon as the present tick has ended, or after the pause that a failure requires. */
  nudge(): void;
  status(): LoopStatus<Status>;
  /** Aborts the current tick and resolves when the tick has ended. */
  stop(): Promise<void>;
};

const firstBackoffMs = 50;

/** Starts a loop; the first tick begins at once. */
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
