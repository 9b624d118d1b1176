/** What the orchestrator's planner sees of an installation, read in one statement. */
import type { HostState } from '#domain/host.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';
import { type Queryable, statement } from './pool.ts';
import { liveHosts } from './states.ts';

const viewStatement = statement(
  'pool_view',
  `select h.id, h.pool, h.state, h.session_id as "sessionId",
          (extract(epoch from now() - h.state_since) * 1000)::float8 as "stateAgeMs",
          (extract(epoch from now() - b.last_seen_at) * 1000)::float8 as "silentMs",
          h.launched_at is not null as launched, h.version_id is not null as holding,
          w.waiting
     from (select count(*)::int as waiting from sessions
            where state = 'PROVISIONING' and host_id is null) w
     left join hosts h on h.installation = $1 and h.state in ${liveHosts}
     left join beats b on b.host_id = h.id
    order by h.id`,
);

type ViewRow = {
  id: string | null;
  pool: string;
  state: HostState;
  sessionId: string | null;
  stateAgeMs: number;
  silentMs: number | null;
  launched: boolean;
  holding: boolean;
  waiting: number;
};

export type PoolStock = { hosts: PoolHost[]; waitingSessions: number };

/** Every host of the installation that is not gone, and how many sessions wait for one. */
export const readPool = async (db: Queryable, installation: string): Promise<PoolStock> => {
  const rows = await db.query<ViewRow>(viewStatement, [installation]);
  const hosts = rows.flatMap(({ waiting: _, id, ...host }) => (id === null ? [] : { id, ...host }));
  return { hosts, waitingSessions: rows[0]?.waiting ?? 0 };
};
