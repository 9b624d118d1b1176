/** How a project is told that one of its quotas is used up. */
import { AppError } from '#domain/error.ts';
import type { QuotaName, QuotaRefusal } from '../db/quotas.ts';

/** Nobody knows when room is made of what is no matter of minutes; closing a session takes about so long. */
const usualRetryMs = 5_000;

type Words = {
  /** What is used up. */
  what: string;
  /** Of the limit. */
  unit: string;
  way: string;
};

const words: Record<QuotaName, Words> = {
  sessions: { what: 'open sessions', unit: 'at once', way: 'close what is no longer needed' },
  opens_per_minute: { what: 'opens', unit: 'in 60 seconds', way: 'open the next one later' },
  calls_per_minute: { what: 'calls', unit: 'a minute', way: 'call again in the next one' },
  queued_calls: { what: 'calls that wait', unit: 'at once', way: 'wait for answers first' },
  worlds: { what: 'worlds', unit: 'in all', way: 'use another project' },
  blob_mib: { what: "bytes of worlds' versions", unit: 'MiB in all', way: 'make smaller worlds' },
  links: { what: 'links', unit: 'at once', way: 'use those made, or wait until they end' },
  waits: {
    what: 'requests that hold their answer',
    unit: 'at once at one control plane',
    way: 'ask without "wait", or wait for answers first',
  },
  upload_mib: {
    what: 'bodies of requests under way',
    unit: 'MiB at once at one control plane',
    way: 'send fewer at once',
  },
};

/** The variable with what every project has, by which operators find it. */
const settingOf = (quota: QuotaName): string => `SVC_QUOTA_${quota.toUpperCase()}`;

/** The error of what was refused; `retryAfterMs` becomes the answer's `Retry-After`. */
export const quotaError = ({ quota, limit, retryAfterMs }: QuotaRefusal): AppError => {
  const { what, unit, way } = words[quota];
  const message = `the project's quota of ${what} is used up ("${quota}", ${limit} ${unit}): ${way}, or have the quota raised (${settingOf(quota)})`;
  return new AppError('exhausted', message, {
    detail: { quota, limit, retryAfterMs: retryAfterMs ?? usualRetryMs },
  });
};
