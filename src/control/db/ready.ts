/** The statement with which a loaded session becomes ready. */
import type { SessionHost } from './calls.ts';
import { type Queryable, statement } from './pool.ts';
import { sessionBefore } from './states.ts';

const readyStatement = statement(
  'session_ready',
  `with s as (
     update sessions s
        set state = 'READY', state_since = now(), last_activity_at = now(),
            ready_at = coalesce(ready_at, now())
      where s.id = $1 and s.host_id = $2 and s.generation = $3
        and s.state in ${sessionBefore('READY')}
        and (select bundle from versions v where v.id = s.version_id) = $4
     returning s.host_id
   ), proof as (
     update hosts h set bundle = $4, state_digest = $5
       from s where h.id = s.host_id and h.generation = $3
   )
   select true from s`,
);

/** Makes a session ready and keeps what its host holds; false when the report fits no session. */
export const makeReady = async (
  db: Queryable,
  host: SessionHost,
  holding: { bundle: string; stateDigest: string },
): Promise<boolean> => {
  const { sessionId, hostId, generation } = host;
  const values = [sessionId, hostId, generation, holding.bundle, holding.stateDigest];
  return (await db.query(readyStatement, values)).length > 0;
};
