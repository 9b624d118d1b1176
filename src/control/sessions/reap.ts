/**
 * Ends sessions that have had their time: idle and not pinned, too old (pinned or not), or stuck in a
 * state past its deadline. The orchestrator winds this clock; the limits are its own.
 */
import type { SessionState } from '#domain/session.ts';
import { cancelQueued, type Ending, type LockedSession, lockStuckSession } from '../db/endings.ts';
import type { Queryable } from '../db/pool.ts';
import { findHeldPool } from '../db/pools.ts';
import { findStuck, reapSessions } from '../db/reap.ts';
import type { Parts } from '../parts.ts';
import { endedCalls, endWithHost, tellNews } from './end.ts';

export type ReapLimits = {
  idleMs: number;
  maxAgeMs: number;
  provisionMs: number;
  closingMs: number;
};

type ReapParts = Pick<Parts, 'db' | 'notices'>;

/** Begins to close what is idle or too old. */
const reapTimed = async ({ db, notices }: ReapParts, asked: ReapLimits): Promise<string[]> => {
  const { ended, cancelled } = await db.transaction(async (tx) => {
    const sessionIds = await reapSessions(tx, asked);
    if (sessionIds.length === 0) return { ended: [], cancelled: [] };
    const calls = await cancelQueued(tx, sessionIds, endedCalls('max_age').cancelled);
    return { ended: sessionIds, cancelled: calls };
  });
  tellNews(notices, [...ended, ...cancelled]);
  return ended;
};

type Stuck = {
  state: SessionState;
  overMs: number;
  ending(tx: Queryable, session: LockedSession): Promise<Ending>;
  detail: string;
};

/** Why a session got no host, with the reason of the pool that should have had one. */
const describeLack = async (tx: Queryable, sessionId: string, overMs: number): Promise<string> => {
  const pool = await findHeldPool(tx, sessionId);
  const because = pool === undefined ? '' : `; pool "${pool.name}" launches none: ${pool.held}`;
  return `no warm host was free within ${overMs} ms${because}`;
};

const provisioning = (overMs: number): Stuck => ({
  state: 'PROVISIONING',
  overMs,
  ending: async (tx, { id, hostId }) => ({
    to: 'FAILED',
    reason: 'provision_failed',
    error:
      hostId === null
        ? { code: 'no_host', message: await describeLack(tx, id, overMs) }
        : { code: 'load_timeout', message: `the host did not load the world within ${overMs} ms` },
  }),
  detail: `did not load a session within ${overMs} ms`,
});

const closing = (overMs: number): Stuck => ({
  state: 'CLOSING',
  overMs,
  ending: async () => ({ to: 'CLOSED', reason: 'requested', error: null }),
  detail: `did not report its session closed within ${overMs} ms`,
});

/** Ends what is stuck, one session a transaction, and drains the hosts. */
const endStuck = async ({ db, notices }: ReapParts, stuck: Stuck): Promise<string[]> => {
  const ended: string[] = [];
  for (const id of await findStuck(db, stuck)) {
    const news = await db.transaction(async (tx) => {
      const session = await lockStuckSession(tx, id, stuck);
      if (session === undefined) return [];
      const host = { reason: 'silent', detail: stuck.detail } as const;
      return endWithHost(tx, session, await stuck.ending(tx, session), host);
    });
    tellNews(notices, news);
    if (news.length > 0) ended.push(id);
  }
  return ended;
};

/** Runs all three and returns the sessions whose end has begun or come. */
export const reap = async (parts: ReapParts, asked: ReapLimits): Promise<string[]> => [
  ...(await reapTimed(parts, asked)),
  ...(await endStuck(parts, provisioning(asked.provisionMs))),
  ...(await endStuck(parts, closing(asked.closingMs))),
];
