/**
 * Limits the requests that a key or token makes in a minute, and reports the limit in headers. The limit is set by the
 * project or by the installation; without one, nothing is counted and no headers are sent. Replicas share the count.
 * Each replica takes a twentieth of the limit in advance, so that most requests need no database statement. Therefore
 * one replica may refuse requests while another has not used up the part that it took.
 */
import type { FastifyReply } from 'fastify';
import { AppError } from '#domain/error.ts';
import type { Queryable } from '../../db/core/database.ts';
import { takeRequests } from '../../db/projects/credentials.ts';
import { createTokenBuckets, type Taken } from '../../platform/limits/token-buckets.ts';
import type { Caller } from './endpoint.ts';

/** Counts a request and writes the rate limit headers; throws `exhausted` beyond the limit. */
export type LimitRate = (caller: Caller, reply: FastifyReply) => Promise<void>;

const refusalOf = (limit: number): string =>
  `the key or token has used its ${limit} requests of this minute (rate limit of the project): try again in the next minute`;

const minuteMs = 60_000;

/**
 * Counts requests on this replica alone and grants the whole limit each minute. It is the fallback while the database's
 * disk is full. Counting in the database would then fail, and reads, which need no disk space, would be refused.
 */
const createOwnCount = () => {
  let minute = 0;
  const given = new Set<string>();
  return (credentialId: string, most: number): Taken => {
    const current = Math.floor(Date.now() / minuteMs);
    if (current !== minute) given.clear();
    minute = current;
    const granted = given.has(credentialId) ? 0 : most;
    given.add(credentialId);
    return { granted, untaken: 0, most, leftMs: minuteMs - (Date.now() % minuteMs) };
  };
};

/** Creates the limiter. `usual` is the limit for projects that set none; null means no limit. */
export const createLimitRate = (db: Queryable, usual: number | null): LimitRate => {
  const takeHere = createOwnCount();
  const buckets = createTokenBuckets(async (credentialId, most) => {
    try {
      return { ...(await takeRequests(db, credentialId, most)), most };
    } catch (error) {
      if (!(error instanceof AppError) || error.detail.full !== 'database') throw error;
      return takeHere(credentialId, most);
    }
  });
  return async (caller, reply) => {
    const credential = 'credential' in caller ? caller.credential : undefined;
    const limit = credential?.rateLimit ?? usual;
    if (credential === undefined || limit === null) return;
    const spent = await buckets.spend(credential.id, limit);
    const { isSpent, remaining, endsInMs } = spent;
    reply.header('x-ratelimit-limit', spent.most);
    reply.header('x-ratelimit-remaining', remaining);
    reply.header('x-ratelimit-reset', Math.ceil((Date.now() + endsInMs) / 1_000));
    if (isSpent) return;
    throw new AppError('exhausted', refusalOf(spent.most), {
      detail: { rateLimit: spent.most, retryAfterMs: endsInMs },
    });
  };
};
