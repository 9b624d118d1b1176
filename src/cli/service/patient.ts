/** Repeats idempotent work while the service or the network is unavailable or overloaded. */
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '#domain/backoff.ts';
import { AppError } from '#domain/error.ts';

const pauses = { firstMs: 250, mostMs: 10_000 };
const mostFailures = 8;

const mayPass = (error: unknown): error is AppError => {
  if (!(error instanceof AppError)) return false;
  const { quota, retryAfterMs } = error.detail;
  if (error.code === 'exhausted') return quota === undefined && retryAfterMs !== undefined;
  return error.code === 'unavailable' || error.code === 'timeout';
};

/** Repeats the work until it succeeds or is refused. Gives up after `mostFailures` failures. */
export const patiently = async <Value>(
  signal: AbortSignal,
  work: () => Promise<Value>,
): Promise<Value> => {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !mayPass(error) || failures >= mostFailures) throw error;
      const { retryAfterMs } = error.detail;
      const ms = typeof retryAfterMs === 'number' ? retryAfterMs : backoffMs(failures, pauses);
      await delay(ms, undefined, { signal });
    }
  }
};
