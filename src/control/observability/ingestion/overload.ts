/**
 * Refusal of telemetry because of overload. It is `unavailable` (503), because clients retry soon after a 503 but not
 * after a 429.
 */
import { AppError } from '#domain/error.ts';

const retryAfterMs = 1_000;

export const overloaded = (cause?: unknown): AppError =>
  new AppError('unavailable', 'too much is being ingested; send the request again in a moment', {
    detail: { retryAfterMs },
    ...(cause === undefined ? {} : { cause }),
  });

/** Turns `exhausted` into `unavailable`, after which clients retry; returns any other error unchanged. */
export const asOverload = (error: unknown): unknown =>
  error instanceof AppError && error.code === 'exhausted' ? overloaded(error) : error;
