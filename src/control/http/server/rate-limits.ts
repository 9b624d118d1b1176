/**
 * How many requests a key or token makes in a minute, and how it is told. The limit is the project's or the
 * installation's; where there is none, nothing is counted and nothing is said. Replicas share the count: each takes a
 * twentieth of the limit ahead, so that a request costs no statement, and some of it may lie unused at another replica
 * when this one refuses.
 */
import type { FastifyReply } from 'fastify';
import { AppError } from '#domain/error.ts';
import type { Queryable } from '../../db/core/database.ts';
import { takeRequests } from '../../db/projects/credentials.ts';
import { createTokenBuckets, type Taken } from '../../platform/limits/token-buckets.ts';
import type { Caller } from './endpoint.ts';

/** Counts a request, writes the headers that tell of the limit, and throws `exhausted` beyond it. */
export type LimitRate = (caller: Caller, reply: FastifyReply) => Promise<void>;

const told = (limit: number): string =>
  `the key or token has made its ${limit} requests of this minute (rate limit of the project): come again in the next one`;

const minuteMs = 60_000;

/**
 * Counts requests on this replica alone: the whole limit each minute. A count in a database whose disk is full would
 * refuse reads, which need no room.
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

/** Makes it; `usual` is the limit of projects that have none of their own, null for none. */
export const createLimitRate = (db: Queryable, usual: number | null): LimitRate => {
  const takeHere = createOwnCount();
  const purses = createTokenBuckets(async (credentialId, most) => {
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
    const spent = await purses.spend(credential.id, limit);
    const { isSpent, remaining, endsInMs } = spent;
    reply.header('x-ratelimit-limit', spent.most);
    reply.header('x-ratelimit-remaining', remaining);
    reply.header('x-ratelimit-reset', Math.ceil((Date.now() + endsInMs) / 1_000));
    if (isSpent) return;
    throw new AppError('exhausted', told(spent.most), {
      detail: { rateLimit: spent.most, retryAfterMs: endsInMs },
    });
  };
};
