/** Refusal of telemetry because of overload: `unavailable`, since clients retry soon after that and not after a 429. */
import { AppError } from '#domain/error.ts';

const retryAfterMs = 1_000;

export const overloaded = (cause?: unknown): AppError =>
  new AppError('unavailable', 'too much is being ingested; send it again in a moment', {
    detail: { retryAfterMs },
    ...(cause === undefined ? {} : { cause }),
  });

/** Turns a refusal because of overload into one after which clients retry; returns any other error unchanged. */
export const asOverload = (error: unknown): unknown =>
  error instanceof AppError && error.code === 'exhausted' ? overloaded(error) : error;
