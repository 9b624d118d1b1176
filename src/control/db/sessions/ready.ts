/** Statement that moves a loaded session to READY. */
import type { SessionStart } from '#domain/session.ts';
import { type Queryable, statement } from '../core/database.ts';
import { sessionBefore } from '../core/states.ts';
import type { SessionHost } from './calls.ts';
import { type SessionRow, sessionColumns } from './session-row.ts';

const readyStatement = statement(
  'session_ready',
  `with s as (
     update sessions s
        set state = 'READY', state_since = now(), last_activity_at = now(),
            ready_at = coalesce(ready_at, now())
      where s.id = :sessionId and s.host_id = :hostId and s.generation = :generation
        and s.state in ${sessionBefore('READY')}
        and (select bundle from versions v where v.id = s.version_id) = :bundle
     returning s.*
   ), proof as (
     update hosts h set bundle = :bundle, state_digest = :stateDigest
       from s where h.id = s.host_id and h.generation = :generation
        and (h.bundle, h.state_digest) is distinct from (:bundle, :stateDigest)
   )
   select ${sessionColumns()}, s.open_calls as "openCalls",
          (extract(epoch from now() - s.created_at) * 1000)::float8 as "openedMs",
          (extract(epoch from now() - s.assigned_at) * 1000)::float8 as "claimedMs",
          case when s.assigned_at > s.created_at then 'cold'
               when h.bundle is null then 'warm' else 'held' end as start
     from s join hosts h on h.id = s.host_id`,
);

/**
 * Session that became ready, the number of its open calls, the kind of its start, and the milliseconds since it was
 * opened and since its host was assigned.
 */
export type Readied = {
  session: SessionRow;
  openCalls: number;
  start: SessionStart;
  openedMs: number;
  claimedMs: number;
};

/**
 * Makes a session ready and records the load of its host. Returns undefined if no session matches the report, or the
 * session is ready already.
 */
export const makeReady = async (
  db: Queryable,
  host: SessionHost,
  holding: { bundle: string; stateDigest: string | null },
): Promise<Readied | undefined> => {
  type Row = SessionRow & Omit<Readied, 'session'>;
  const [row] = await db.query<Row>(readyStatement, { ...host, ...holding });
  if (row === undefined) return undefined;
  const { openCalls, start, openedMs, claimedMs, ...session } = row;
  return { session, openCalls, start, openedMs, claimedMs };
};
