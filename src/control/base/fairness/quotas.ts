/**
 * Quotas of a project, and the error if one is used up. The database checks a quota in the statement that consumes it,
 * by functions in the migrations. There are two exceptions. Calls per minute are reserved in advance, in blocks. Held
 * requests and bodies in transfer are counted by each control plane on its own.
 */
import { AppError } from '#domain/error.ts';

/**
 * Maximum numbers that a project may use; each is at least 1. A row of `projects` may override all but `waits` and
 * `uploadMib`.
 */
export type Quotas = {
  /** Maximum number of sessions that are not yet `CLOSED` or `FAILED`, including those that wait for a host. */
  sessions: number;
  /** Maximum number of sessions opened within any 60 seconds, including those that failed. */
  opensPerMinute: number;
  /** Maximum number of calls requested in one calendar minute, including those that failed. */
  callsPerMinute: number;
  /**
   * Maximum number of calls that are queued or claimed, in all sessions of the project. Each session may always have a
   * few.
   */
  queuedCalls: number;
  /** Maximum number of worlds, including those that are being created. */
  worlds: number;
  /**
   * Maximum size of the blobs of the project's versions, in MiB. A blob that several versions share counts once for
   * each version.
   */
  blobMib: number;
  /**
   * Maximum size of the stored ledger entries, in MiB. If it is exceeded, those of the oldest closed sessions are
   * removed.
   */
  ledgerMib: number;
  /** Maximum number of valid one-time links into the project's sessions. */
  links: number;
  /** Maximum number of held requests (long polls) at one control plane. */
  waits: number;
  /** Maximum size of large bodies that one control plane receives or processes at the same time, in MiB. */
  uploadMib: number;
};

/** Names, as clients see them, of the quotas because of which a request can be refused. */
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

/** Refusal of a request because a quota is used up. */
export type QuotaRefusal = {
  quota: QuotaName;
  limit: number;
  /**
   * Time until the quota allows a request again, in milliseconds. It is known only for quotas per minute; for all other
   * quotas, it is null.
   */
  retryAfterMs: number | null;
};

/**
 * Suggested wait for quotas that are not per minute, in milliseconds. It is not known when such a quota allows a
 * request again; closing a session takes about this long.
 */
const usualRetryMs = 5_000;

type Words = {
  /** Noun with which messages name the objects that the quota limits. */
  what: string;
  /** Unit of the limit in messages. */
  unit: string;
  way: string;
};

const words: Record<QuotaName, Words> = {
  sessions: { what: 'open sessions', unit: 'at once', way: 'close what is no longer needed' },
  opens_per_minute: { what: 'opens', unit: 'in 60 seconds', way: 'open the next session later' },
  calls_per_minute: { what: 'calls', unit: 'a minute', way: 'call again in the next minute' },
  queued_calls: { what: 'queued calls', unit: 'at once', way: 'wait for answers first' },
  worlds: { what: 'worlds', unit: 'in all', way: 'use another project' },
  blob_mib: { what: "bytes of worlds' versions", unit: 'MiB in all', way: 'make smaller worlds' },
  links: {
    what: 'links',
    unit: 'at once',
    way: 'use the existing links, or wait until they expire',
  },
  waits: {
    what: 'held requests',
    unit: 'at once at one control plane',
    way: 'send the request without "wait", or wait for answers first',
  },
  upload_mib: {
    what: 'bodies of requests in progress',
    unit: 'MiB at once at one control plane',
    way: 'send fewer large bodies at once',
  },
};

/**
 * Returns the environment variable that sets the quota for all projects. Messages name it so that operators can find
 * it.
 */
const settingOf = (quota: QuotaName): string => `SVC_QUOTA_${quota.toUpperCase()}`;

/** Builds the error for a refused request. `retryAfterMs` is sent as `Retry-After`. */
export const quotaError = ({ quota, limit, retryAfterMs }: QuotaRefusal): AppError => {
  const { what, unit, way } = words[quota];
  const message = `the project's quota of ${what} is used up ("${quota}", ${limit} ${unit}): ${way}, or let the operator raise the quota (${settingOf(quota)})`;
  return new AppError('exhausted', message, {
    detail: { quota, limit, retryAfterMs: retryAfterMs ?? usualRetryMs },
  });
};
