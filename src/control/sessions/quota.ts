/** How a project is told that one of its quotas is used up. */
import { AppError } from '#domain/error.ts';
import type { QuotaRefusal } from '../db/quotas.ts';

/** Nobody knows when a session will be closed; closing one takes about so long. */
const sessionsRetryMs = 5_000;

const wayOut = ({ quota, limit }: QuotaRefusal): string =>
  quota === 'sessions'
    ? `open sessions is used up ("${quota}", ${limit} at once): close what is no longer needed`
    : `opens is used up ("${quota}", ${limit} in 60 seconds): open the next one later`;

/** The error of an open that was refused; `retryAfterMs` becomes the answer's `Retry-After`. */
export const quotaError = (refusal: QuotaRefusal): AppError => {
  const { quota, limit, retryAfterMs } = refusal;
  const message = `the project's quota of ${wayOut(refusal)}, or have the quota raised`;
  return new AppError('exhausted', message, {
    detail: { quota, limit, retryAfterMs: retryAfterMs ?? sessionsRetryMs },
  });
};
