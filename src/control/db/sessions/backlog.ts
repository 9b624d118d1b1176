/** Backlog of sessions that wait for the kind of host that a new session requests. */
import type { HostWish } from '#domain/pool.ts';
import { type Queryable, statement } from '../core/database.ts';
import { liveHosts, waiting } from '../core/states.ts';
import { publishedPools, suits, type Wish, wishOf } from './pools.ts';

export type Backlog = {
  /** Number of waiting sessions with the requested requirements, and the longest wait among them in milliseconds. */
  waiting: number;
  longestWaitMs: number;
  /** Projects of the waiting sessions. */
  projects: string[];
  /**
   * Number of hosts that are starting, or that matching pools can still launch. Null if no matching pool is published,
   * or launches are suspended in all of them.
   */
  toCome: number | null;
};

const wanted: Wish = { tier: ':tier', isolation: ':isolation', size: ':size' };
const asked = wishOf('s');

const backlogStatement = statement(
  'crowding',
  `select w.*, p."toCome"
     from (select count(*)::int as waiting,
                  coalesce(extract(epoch from now() - min(s.created_at)) * 1000, 0)::float8 as "longestWaitMs",
                  coalesce(array_agg(distinct s.project_id), '{}') as projects
             from sessions s
            where ${waiting('s')} and ${asked.tier} = :tier and ${asked.size} = :size
              and ${asked.isolation} is not distinct from :isolation::text) w
    cross join (select sum(greatest(p.maximum - live.ready, 0))::int as "toCome"
                  from ${publishedPools} cross join lateral (
                    select count(*) filter (where h.state <> 'starting') as ready from hosts h
                     where h.installation = p.installation and h.pool = p.name and h.state in ${liveHosts}
                  ) live
                 where p.held is null and ${suits('p', wanted)}) p`,
);

/** Counts the waiting sessions and the hosts that can be launched. The statement uses only indexes of live rows. */
export const readBacklog = async (db: Queryable, wish: HostWish): Promise<Backlog> => {
  const { tier, isolation, size } = wish;
  const [row] = await db.query<Backlog>(backlogStatement, { tier, isolation, size });
  if (row === undefined) throw new Error('the database returned no row for the backlog');
  return row;
};
