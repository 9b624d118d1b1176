/** Ways to wait: a pause that can be aborted, a condition with a deadline, and a pause between two observations. */
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '#domain/error.ts';

/** Resolves after `ms` milliseconds, or as soon as the signal aborts. It never rejects. */
export const pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
  try {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
};

export type UntilOptions = { timeoutMs: number; everyMs?: number; what: string };

/**
 * Resolves with the first value of `probe` that is neither undefined nor false. Throws `timeout`, naming the condition,
 * if `probe` returns no such value in time.
 */
export const until = async <Value>(
  probe: () => Promise<Value | undefined | false> | Value | undefined | false,
  { timeoutMs, everyMs = 20, what }: UntilOptions,
): Promise<Value> => {
  const endsAt = performance.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > endsAt) {
      throw new AppError('timeout', `${what}: not within ${timeoutMs} ms`);
    }
    await pause(everyMs);
  }
};

/**
 * Pause after an observation, as a multiple of the observation's duration, so that observations take at most a fifth of
 * the time.
 */
const restPerLook = 4;

/**
 * Returns the pause after an observation that took `lookMs`; the pause is at most `mostMs`. All are in milliseconds.
 */
export const restAfter = (lookMs: number, mostMs: number): number =>
  Math.min(lookMs * restPerLook, mostMs);
