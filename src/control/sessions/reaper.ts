/**
 * Reaper: ends sessions that are idle and not pinned, too old (pinned or not), or longer in a state than its deadline
 * allows. The orchestrator triggers the reaper and sets the limits.
 */
import type { SessionState } from '#domain/session.ts';
import type { Queryable } from '../db/core/database.ts';
import {
  cancelQueued,
  type Ending,
  type LockedSession,
  lockStuckSession,
} from '../db/sessions/endings.ts';
import {
  type BlockedPool,
  findBlockedPool,
  findUnsuited,
  listOffers,
} from '../db/sessions/pools.ts';
import { findStuck, reapSessions } from '../db/sessions/reap.ts';
import { describeUnsuited } from './lifecycle/no-suitable-pool.ts';
import type { SessionParts } from './parts.ts';
import {
  addEffects,
  applyEffects,
  endedCalls,
  endWithHost,
  noEffects,
} from './scheduling/end-sessions.ts';

const describeBlocked = ({ name, held, maximum, live }: BlockedPool): string =>
  held === null
    ? `pool "${name}" is full (${live} of ${maximum} hosts)`
    : `pool "${name}" launches none: ${held}`;

const findCause = async (db: Queryable, sessionId: string): Promise<string | undefined> => {
  const blocked = await findBlockedPool(db, sessionId);
  if (blocked !== undefined) return describeBlocked(blocked);
  const wish = await findUnsuited(db, sessionId);
  if (wish === undefined) return undefined;
  return `the pools have changed since it was opened: ${describeUnsuited(wish, await listOffers(db))}`;
};

/**
 * Returns the message that no host became free within `overMs`, with the reason: the state of the pool that should have
 * had one, or that no such pool exists any more.
 */
const describeLack = async (db: Queryable, sessionId: string, overMs: number): Promise<string> => {
  const cause = await findCause(db, sessionId);
  const lack = `no warm host was free within ${overMs} ms`;
  return cause === undefined ? lack : `${lack}; ${cause}`;
};

export type ReapLimits = {
  idleMs: number;
  maxAgeMs: number;
  provisionMs: number;
  closingMs: number;
};

/** Starts to close sessions that are idle or too old. */
const reapTimed = async (parts: SessionParts, asked: ReapLimits): Promise<string[]> => {
  const { reaped, cancelled } = await parts.db.transaction(async (tx) => {
    const sessions = await reapSessions(tx, asked);
    if (sessions.length === 0) return { reaped: [], cancelled: [] };
    const ids = sessions.map(({ id }) => id);
    const calls = await cancelQueued(tx, ids, endedCalls('max_age').cancelled);
    return { reaped: sessions, cancelled: calls };
  });
  for (const { reason } of reaped) parts.metrics.reaps.inc({ reason });
  const ended = reaped.map(({ id }) => id);
  applyEffects(parts, addEffects(noEffects, ended, cancelled));
  return ended;
};

type Stuck = {
  state: SessionState;
  overMs: number;
  ending(tx: Queryable, session: LockedSession): Promise<Ending>;
  detail: string;
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

/** Ends sessions that are stuck in a state, each in its own transaction, and drains their hosts. */
const endStuck = async (parts: SessionParts, stuck: Stuck): Promise<string[]> => {
  const { db, metrics } = parts;
  const ended: string[] = [];
  for (const id of await findStuck(db, stuck)) {
    const effects = await db.transaction(async (tx) => {
      const session = await lockStuckSession(tx, id, stuck);
      if (session === undefined) return noEffects;
      const host = { reason: 'silent', detail: stuck.detail } as const;
      return endWithHost(tx, session, await stuck.ending(tx, session), host);
    });
    applyEffects(parts, effects);
    if (effects.ends.length === 0) continue;
    metrics.reaps.inc({ reason: `stuck_${stuck.state.toLowerCase()}` });
    ended.push(id);
  }
  return ended;
};

/** Runs all three checks. Returns the sessions that ended or began to close. */
export const reap = async (parts: SessionParts, asked: ReapLimits): Promise<string[]> => [
  ...(await reapTimed(parts, asked)),
  ...(await endStuck(parts, provisioning(asked.provisionMs))),
  ...(await endStuck(parts, closing(asked.closingMs))),
];
