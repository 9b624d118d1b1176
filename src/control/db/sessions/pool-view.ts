/**
 * View of an installation for the planner of its orchestrator, and the revision of that view. One statement reads the
 * view, another the revision.
 */
import { browserSize } from '#domain/pool.ts';
import type { PoolHost, PoolView } from '#wire/pool-api/operations.ts';
import { type Queryable, statement } from '../core/database.ts';
import { liveHosts, waiting } from '../core/states.ts';
import { waitsForBrowser } from './browsers.ts';
import { preloads, worldAtPath } from './pools.ts';

/** Time after which a host may again try to preload a version that failed to load, as an SQL interval. */
const retryLoadAfter = '5 minutes';

const waitingAlike = `
  select coalesce(json_agg(alike), '[]') as waiting
    from (select browser_tier as tier, isolation, size, count(*)::int as count,
                 min(id) as oldest -- ids sort by creation
            from (select browser_tier, isolation, size, id from sessions s where ${waiting('s')}
                  union all
                  select b.tier, null, '${browserSize}', s.id
                    from session_browsers b join sessions s on s.id = b.session_id
                   where ${waitsForBrowser('b', 's')}) s
           group by 1, 2, 3
           order by 1, 2, 3) alike`;

const worlds = `
  select coalesce(json_agg(preloaded), '[]') as worlds
    from (select p.name as pool, preload.world, x.head_version_id as "versionId", preload.hosts
            from pools p cross join lateral ${preloads('p')}
            join ${worldAtPath('preload.world')}
           where p.installation = $1 and not exists (
             select from hosts failed
              where failed.version_id = x.head_version_id and failed.end_reason = 'load_failed'
                and failed.uses = 0 and failed.state_since > now() - interval '${retryLoadAfter}'
           )
           order by p.position, preload.world) preloaded`;

// Digest of everything that a planner reads of hosts except ages, which change all the time.
const lasting = `
  select md5(coalesce(string_agg(
           (h.id, h.pool, h.state, h.session_id, h.launched_at is null, h.version_id, h.uses)::text,
           '' order by h.id), '')) as hosts
    from hosts h where h.installation = $1 and h.state in ${liveHosts}`;

// This subquery returns exactly one row.
const beside = `
  select md5(w.waiting::text || l.worlds::text || r.hosts) as revision, w.waiting, l.worlds
    from (${waitingAlike}) w cross join (${worlds}) l cross join (${lasting}) r`;

const revisionStatement = statement('pool_revision', `select revision from (${beside}) b`);

const viewStatement = statement(
  'pool_view',
  `select h.id, h.pool, h.kind, h.state, h.session_id as "sessionId", s.browser_tier as serves,
          (extract(epoch from now() - h.state_since) * 1000)::float8 as "stateAgeMs",
          (extract(epoch from now() - b.last_seen_at) * 1000)::float8 as "silentMs",
          (extract(epoch from now() - h.created_at) * 1000)::float8 as "ageMs",
          h.launched_at is not null as launched, h.version_id as "versionId", h.uses, h.address,
          beside.revision, beside.waiting, beside.worlds
     from (${beside}) beside
     left join hosts h on h.installation = $1 and h.state in ${liveHosts}
     left join beats b on b.host_id = h.id
     left join sessions s on s.id = h.session_id
    order by h.id`,
);

type Beside = Omit<PoolView, 'hosts'>;
type ViewRow = Omit<PoolHost, 'id'> & Beside & { id: string | null };

/** Returns the revision. It changes whenever the view changes in anything except ages. */
export const readRevision = async (db: Queryable, installation: string): Promise<string> => {
  const [row] = await db.query<{ revision: string }>(revisionStatement, [installation]);
  return row?.revision ?? '';
};

/**
 * Reads the view: all hosts of the installation that are not gone, the sessions that wait for a host, and the worlds
 * that the published pools keep loaded.
 */
export const readPool = async (db: Queryable, installation: string): Promise<PoolView> => {
  const rows = await db.query<ViewRow>(viewStatement, [installation]);
  const hosts = rows.flatMap(({ revision: _, waiting: __, worlds: ___, id, ...host }) =>
    id === null ? [] : { id, ...host },
  );
  const [first] = rows;
  return {
    revision: first?.revision ?? '',
    hosts,
    waiting: first?.waiting ?? [],
    worlds: first?.worlds ?? [],
  };
};
