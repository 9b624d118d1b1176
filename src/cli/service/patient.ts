/** Work that may be done twice, done again while the service or the network is away, or has too much to do. */
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

/** Does it until it succeeds, is refused, or has failed so often that nobody comes back soon. */
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
