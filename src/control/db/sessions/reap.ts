/**
 * Closes sessions that are idle or too old, and finds stuck ones. Activity and age are measured by the database's
 * clock.
 */
import type { SessionState } from '#domain/session.ts';
import { type Queryable, statement } from '../core/database.ts';
import { openSessionStates, readySessionStates } from '../core/states.ts';

const most = 200;
const ago = (parameter: string) => `now() - :${parameter} * interval '1 millisecond'`;

// A session that another transaction has locked is in use at this moment. The conditions are checked again on the
// locked row, so an earlier call keeps its session open. Pinning protects from the idle limit only.
const reapStatement = statement(
  'reap_sessions',
  `with due as materialized (
     select id from sessions
      where closed_at is null and state in ${readySessionStates}
        and (created_at < ${ago('maxAgeMs')}
             or (not pinned and open_calls = 0 and last_activity_at < ${ago('idleMs')}))
      order by id
      limit ${most}
      for no key update skip locked
   )
   update sessions s
      set state = 'CLOSING', state_since = now(), keep_warm = false,
          end_reason = case when s.created_at < ${ago('maxAgeMs')} then 'max_age' else 'idle' end
     from due where s.id = due.id and s.state in ${openSessionStates}
   returning s.id, s.end_reason as reason`,
);

export type Reaped = { id: string; reason: 'idle' | 'max_age' };

/** Moves sessions to CLOSING if they are idle and not pinned, or exceed their maximum age. */
export const reapSessions = async (
  tx: Queryable,
  limits: { idleMs: number; maxAgeMs: number },
): Promise<Reaped[]> => tx.query<Reaped>(reapStatement, limits);

const stuckStatement = statement(
  'find_stuck',
  `select id from sessions where closed_at is null and state = :state and state_since < ${ago('overMs')}
    order by state_since limit ${most}`,
);

/** Returns sessions that have been in `state` for longer than `overMs` milliseconds. */
export const findStuck = async (
  db: Queryable,
  stuck: { state: SessionState; overMs: number },
): Promise<string[]> => (await db.query<{ id: string }>(stuckStatement, stuck)).map(({ id }) => id);
