/** What the orchestrator's planner sees of an installation, read in one statement. */
import type { PoolHost, WaitingSessions } from '#wire/pool-api/operations.ts';
import { type Queryable, statement } from './pool.ts';
import { liveHosts } from './states.ts';

const viewStatement = statement(
  'pool_view',
  `select h.id, h.pool, h.state, h.session_id as "sessionId",
          (extract(epoch from now() - h.state_since) * 1000)::float8 as "stateAgeMs",
          (extract(epoch from now() - b.last_seen_at) * 1000)::float8 as "silentMs",
          (extract(epoch from now() - h.created_at) * 1000)::float8 as "ageMs",
          h.launched_at is not null as launched, h.version_id as "versionId", h.uses,
          w.waiting
     from (select coalesce(json_agg(alike), '[]') as waiting
             from (select browser_tier as tier, isolation, size, count(*)::int as count
                     from sessions
                    where state = 'PROVISIONING' and host_id is null
                    group by 1, 2, 3
                    order by 1, 2, 3) alike) w
     left join hosts h on h.installation = $1 and h.state in ${liveHosts}
     left join beats b on b.host_id = h.id
    order by h.id`,
);

type ViewRow = Omit<PoolHost, 'id'> & { id: string | null; waiting: WaitingSessions[] };

export type PoolStock = { hosts: PoolHost[]; waiting: WaitingSessions[] };

/** Every host of the installation that is not gone, and the sessions that wait for one. */
export const readPool = async (db: Queryable, installation: string): Promise<PoolStock> => {
  const rows = await db.query<ViewRow>(viewStatement, [installation]);
  const hosts = rows.flatMap(({ waiting: _, id, ...host }) => (id === null ? [] : { id, ...host }));
  return { hosts, waiting: rows[0]?.waiting ?? [] };
};
