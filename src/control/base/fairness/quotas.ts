/**
 * What a project may use of an installation, and how it is told that a quota is used up. Whether there is room
 * for more is decided in the database, by functions of the migrations, in the statement that takes the room;
 * only calls a minute are taken ahead, many at once, and requests that hold their answer and bodies under way
 * are counted by each control plane for itself.
 */
import { AppError } from '#domain/error.ts';

/** All are at least 1; but for `waits` and `uploadMib`, a row of `projects` may have its own. */
export type Quotas = {
  /** Sessions that are not yet `CLOSED` or `FAILED`, those that wait for a host among them. */
  sessions: number;
  /** Sessions opened in any 60 seconds, whatever became of them. */
  opensPerMinute: number;
  /** Calls asked for in one minute of the clock, whatever became of them. */
  callsPerMinute: number;
  /** Calls of all its sessions that are queued or claimed; a session may always have a few. */
  queuedCalls: number;
  /** Worlds, those that are being made among them. */
  worlds: number;
  /** What its versions consist of; a blob of several versions counts for each. */
  blobMib: number;
  /** Requests that are kept; the oldest closed sessions' make room. */
  ledgerMib: number;
  /** One-time links into its sessions that are still good. */
  links: number;
  /** Requests that hold their answer at one control plane. */
  waits: number;
  /** MiB of large bodies that one control plane receives or works on at once. */
  uploadMib: number;
};

/** The quotas that can refuse something, by the names that callers are told. */
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

/** Why something was refused. */
export type QuotaRefusal = {
  quota: QuotaName;
  limit: number;
  /** When there will be room, if that can be known: of what is counted by the minute alone. */
  retryAfterMs: number | null;
};

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
