/**
 * Quotas of a project, and the error when one is used up. The database decides if there is room, by functions in the
 * migrations, in the statement that consumes the quota. Calls per minute are an exception: they are reserved ahead in
 * blocks. So are held requests and bodies in transfer: each control plane counts its own.
 */
import { AppError } from '#domain/error.ts';

/** Each quota is at least 1. A row of `projects` may override all but `waits` and `uploadMib`. */
export type Quotas = {
  /** Sessions that are not yet `CLOSED` or `FAILED`, including those that wait for a host. */
  sessions: number;
  /** Sessions opened in any 60 seconds, whatever their outcome. */
  opensPerMinute: number;
  /** Calls requested in one calendar minute, whatever their outcome. */
  callsPerMinute: number;
  /** Calls of all the project's sessions that are queued or claimed; a session may always have a few. */
  queuedCalls: number;
  /** Worlds, including those that are being created. */
  worlds: number;
  /** Blobs of the project's versions; a blob shared by several versions counts for each. */
  blobMib: number;
  /** Ledger entries that are kept; those of the oldest closed sessions are removed first. */
  ledgerMib: number;
  /** One-time links into the project's sessions that are still valid. */
  links: number;
  /** Held requests (long polls) at one control plane. */
  waits: number;
  /** MiB of large bodies that one control plane receives or processes at once. */
  uploadMib: number;
};

/** Quotas that can refuse a request, by the names that clients see. */
export const quotaNames = [
  'sessions',
  'opens_per_minute',
  'calls_per_minute',
  'queued_calls',
  'worlds',
  'blob_mib',
  'links',
  'waits',
  'upload_mib',
] as const;
export type QuotaName = (typeof quotaNames)[number];

/** Reason why a request was refused. */
export type QuotaRefusal = {
  quota: QuotaName;
  limit: number;
  /** Time until there is room again; known only for quotas per minute, else null. */
  retryAfterMs: number | null;
};

/**
 * Suggested wait for quotas that are not per minute: when room appears is unknown, but closing a session takes about
 * this long.
 */
const usualRetryMs = 5_000;

type Words = {
  /** Resource that is used up. */
  what: string;
  /** Unit of the limit. */
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

/** Returns the variable that sets the quota for all projects, so that operators can find it. */
const settingOf = (quota: QuotaName): string => `SVC_QUOTA_${quota.toUpperCase()}`;

/** Builds the error of a refusal; `retryAfterMs` becomes the `Retry-After` of the answer. */
export const quotaError = ({ quota, limit, retryAfterMs }: QuotaRefusal): AppError => {
  const { what, unit, way } = words[quota];
  const message = `the project's quota of ${what} is used up ("${quota}", ${limit} ${unit}): ${way}, or have the quota raised (${settingOf(quota)})`;
  return new AppError('exhausted', message, {
    detail: { quota, limit, retryAfterMs: retryAfterMs ?? usualRetryMs },
  });
};
