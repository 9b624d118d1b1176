/** Queries about the whole installation, for operators: pools, hosts, leases, clocks, and everything that is stuck. */
import { type HostState, liveHostStates } from '#domain/host.ts';
import type { AdminHost, PoolReport } from '#wire/admin-api/operations.ts';
import { type Queryable, statement } from '../core/database.ts';
import { projectPath } from '../projects/keys.ts';
import { preloads, worldAtPath } from '../sessions/pools.ts';

const ms = (interval: string): string => `(extract(epoch from ${interval}) * 1000)::float8`;

// Rows of hosts are kept after the hosts are gone; the index of live hosts serves the default query.
const matching = `($1::text is null or h.pool = $1) and ($2::text is null or h.state = $2)
  and (h.state <> 'gone' or $2 = 'gone')`;

const reportStatement = statement(
  'list_pools',
  `select p.installation, p.name, p.tier, p.isolation, p.size, p.minimum, p.maximum, p.target, p.held,
          p.worlds, coalesce(l.expires_at > now(), false) as "isLed", unknown.worlds as "unknownWorlds",
          counted.hosts, counted.fresh
     from pools p
     left join leases l on l.installation = p.installation
     cross join lateral (
       select json_build_object(${liveHostStates
         .map((state) => `'${state}', count(*) filter (where h.state = '${state}')`)
         .join(', ')}) as hosts,
              (count(*) filter (where h.state = 'warm' and h.version_id is null))::int as fresh
         from hosts h
        where h.installation = p.installation and h.pool = p.name and h.state <> 'gone'
     ) counted
     cross join lateral (
       select coalesce(json_agg(preload.world), '[]') as worlds from ${preloads('p')}
         left join ${worldAtPath('preload.world')}
        where x.id is null
     ) unknown
    order by p.installation, p.position`,
);

/** Lists all published pools with their hosts. */
export const listPools = (db: Queryable): Promise<PoolReport[]> =>
  db.query<PoolReport>(reportStatement, []);

const listStatement = statement(
  'admin_hosts',
  `select h.id, h.installation, h.pool, h.runtime, h.state, h.session_id as "sessionId",
          h.version_id as "versionId", ${projectPath('x.project_id')} || '/' || x.slug as world,
          v.number as "versionNumber", h.uses, h.address,
          ${ms('now() - h.created_at')} as "ageMs",
          ${ms('now() - h.state_since')} as "stateAgeMs",
          ${ms('now() - b.last_seen_at')} as "silentMs", b.rss_bytes::float8 as "rssBytes",
          h.end_reason as "endReason", left(h.end_detail, 1000) as "endDetail", h.total
     from (select h.*, (count(*) over ())::int as total from hosts h where ${matching}
            order by h.state_since desc, h.id limit $3) h
     left join beats b on b.host_id = h.id
     left join versions v on v.id = h.version_id
     left join worlds x on x.id = v.world_id
    order by h.state_since desc, h.id`,
);

export type HostFilter = { pool?: string | undefined; state?: HostState | undefined };

/**
 * Lists the matching hosts, the latest state change first. Hosts that are gone are listed only if the filter names that
 * state.
 */
export const listHosts = async (
  db: Queryable,
  { pool, state }: HostFilter,
  limit: number,
): Promise<{ hosts: AdminHost[]; total: number }> => {
  const values = [pool ?? null, state ?? null, limit];
  const rows = await db.query<AdminHost & { total: number }>(listStatement, values);
  return { hosts: rows.map(({ total: _, ...host }) => host), total: rows[0]?.total ?? 0 };
};

const poolHostsStatement = statement(
  'hosts_of_pool',
  `select id, state from hosts
    where pool = $1 and ($2::text is null or installation = $2) and state <> 'gone'
    order by id`,
);

/** Lists the hosts of a pool that are not gone. */
export const findPoolHosts = (
  db: Queryable,
  pool: string,
  installation: string | null,
): Promise<{ id: string; state: HostState }[]> =>
  db.query<{ id: string; state: HostState }>(poolHostsStatement, [pool, installation]);

const vitalsStatement = statement(
  'vitals',
  `select ${ms('clock_timestamp() - to_timestamp(0)')} as "nowMs",
     (select coalesce(json_agg(json_build_object('installation', installation, 'holder', holder,
        'refused', refused, 'lateMs', ${ms('now() - expires_at')}) order by installation), '[]') from leases) as leases,
     (select coalesce(json_agg(id), '[]') from (
        select h.id from hosts h join beats b on b.host_id = h.id
         where h.state in ('warm', 'assigned', 'recycling')
           and b.last_seen_at < now() - $1 * interval '1 millisecond'
         order by b.last_seen_at limit 20) silent) as silent,
     (select coalesce(json_agg(json_build_object('id', id, 'state', state) order by state_since), '[]')
        from (select id, state, state_since from sessions
               where (state = 'PROVISIONING' and state_since < now() - $2 * interval '1 millisecond')
                  or (state = 'CLOSING' and state_since < now() - $3 * interval '1 millisecond')
               limit 20) stuck) as stuck`,
);

export type LeaseVitals = {
  installation: string;
  holder: string;
  /** Reason why the holder's configuration was rejected; null if it was accepted. */
  refused: string | null;
  /** Time since the lease expired, in milliseconds; negative while the lease is valid. */
  lateMs: number;
};

/** Everything that has been silent or stuck for too long, up to twenty of each kind. */
export type Vitals = {
  /** Time by the database's clock, in Unix milliseconds. */
  nowMs: number;
  /** Leases of the leaders, one for each installation. */
  leases: LeaseVitals[];
  /** Ids of hosts that have sent no heartbeat for too long. */
  silent: string[];
  stuck: { id: string; state: string }[];
};

export const readVitals = async (
  db: Queryable,
  limits: { silentMs: number; provisionMs: number; closingMs: number },
): Promise<Vitals> => {
  const values = [limits.silentMs, limits.provisionMs, limits.closingMs];
  const [row] = await db.query<Vitals>(vitalsStatement, values);
  if (row === undefined) throw new Error('the database returned no row for the vitals');
  return row;
};
