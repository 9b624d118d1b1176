/** What the orchestrator's planner sees of an installation, read in one statement. */
import type { PoolHost, PoolWorld, WaitingSessions } from '#wire/pool-api/operations.ts';
import { type Queryable, statement } from './pool.ts';
import { preloads, worldAtPath } from './pools.ts';
import { liveHosts } from './states.ts';

/** A version that a host could not load ahead of a session is tried again after so long. */
const retryLoadAfter = '5 minutes';

const viewStatement = statement(
  'pool_view',
  `select h.id, h.pool, h.state, h.session_id as "sessionId",
          (extract(epoch from now() - h.state_since) * 1000)::float8 as "stateAgeMs",
          (extract(epoch from now() - b.last_seen_at) * 1000)::float8 as "silentMs",
          (extract(epoch from now() - h.created_at) * 1000)::float8 as "ageMs",
          h.launched_at is not null as launched, h.version_id as "versionId", h.uses,
          w.waiting, l.worlds
     from (select coalesce(json_agg(alike), '[]') as waiting
             from (select browser_tier as tier, isolation, size, count(*)::int as count
                     from sessions
                    where state = 'PROVISIONING' and host_id is null
                    group by 1, 2, 3
                    order by 1, 2, 3) alike) w
     cross join (
       select coalesce(json_agg(preloaded), '[]') as worlds
         from (select p.name as pool, preload.world, x.head_version_id as "versionId", preload.hosts
                 from pools p cross join lateral ${preloads('p')}
                 join ${worldAtPath('preload.world')}
                where p.installation = $1 and not exists (
                  select from hosts failed
                   where failed.version_id = x.head_version_id and failed.end_reason = 'load_failed'
                     and failed.uses = 0 and failed.state_since > now() - interval '${retryLoadAfter}'
                )
                order by p.position, preload.world) preloaded
     ) l
     left join hosts h on h.installation = $1 and h.state in ${liveHosts}
     left join beats b on b.host_id = h.id
    order by h.id`,
);

type Beside = { waiting: WaitingSessions[]; worlds: PoolWorld[] };
type ViewRow = Omit<PoolHost, 'id'> & Beside & { id: string | null };

export type PoolStock = Beside & { hosts: PoolHost[] };

/**
 * Every host of the installation that is not gone, the sessions that wait for one, and the worlds that
 * its published pools keep loaded.
 */
export const readPool = async (db: Queryable, installation: string): Promise<PoolStock> => {
  const rows = await db.query<ViewRow>(viewStatement, [installation]);
  const hosts = rows.flatMap(({ waiting: _, worlds: __, id, ...host }) =>
    id === null ? [] : { id, ...host },
  );
  return { hosts, waiting: rows[0]?.waiting ?? [], worlds: rows[0]?.worlds ?? [] };
};
