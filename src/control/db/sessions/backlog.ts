/** How crowded it is before the hosts that a new session could have. */
import type { HostWish } from '#domain/pool.ts';
import { type Queryable, statement } from '../core/database.ts';
import { liveHosts, waiting } from '../core/states.ts';
import { ledPools, suits, type Wish, wishOf } from './pools.ts';

export type Backlog = {
  /** Sessions of the same wish without a host, and for how long the first of them has waited. */
  waiting: number;
  longestWaitMs: number;
  /** The projects of those sessions. */
  projects: string[];
  /** Hosts that are on their way or that the pools which suit can still launch; null where no pool says. */
  toCome: number | null;
};

const wanted: Wish = { tier: ':tier', isolation: ':isolation', size: ':size' };
const asked = wishOf('s');

const crowdingStatement = statement(
  'crowding',
  `select w.*, p."toCome"
     from (select count(*)::int as waiting,
                  coalesce(extract(epoch from now() - min(s.created_at)) * 1000, 0)::float8 as "longestWaitMs",
                  coalesce(array_agg(distinct s.project_id), '{}') as projects
             from sessions s
            where ${waiting('s')} and ${asked.tier} = :tier and ${asked.size} = :size
              and ${asked.isolation} is not distinct from :isolation::text) w
    cross join (select sum(greatest(p.maximum - live.ready, 0))::int as "toCome"
                  from ${ledPools} cross join lateral (
                    select count(*) filter (where h.state <> 'starting') as ready from hosts h
                     where h.installation = p.installation and h.pool = p.name and h.state in ${liveHosts}
                  ) live
                 where p.held is null and ${suits('p', wanted)}) p`,
);

/** Counts what waits and what could be launched; served by indexes of what is live. */
export const readBacklog = async (db: Queryable, wish: HostWish): Promise<Backlog> => {
  const { tier, isolation, size } = wish;
  const [row] = await db.query<Backlog>(crowdingStatement, { tier, isolation, size });
  if (row === undefined) throw new Error('the crowding was not read');
  return row;
};
