/**
 * Pools as their orchestrators publish them. If an installation has no leader, it is unknown whether its pools will
 * serve again. Such pools are included only in the view of that installation.
 */
import { browserSize, type HostOffer, type HostWish } from '#domain/pool.ts';
import type { PublishedPool } from '#wire/pool-api/operations.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';
import { liveHosts } from '../core/states.ts';

/**
 * Returns the SQL for the worlds that published pools keep loaded, as rows with the path `world` and the number
 * `hosts`.
 */
export const preloads = (pool: string): string =>
  `json_to_recordset(${pool}.worlds) as preload(world text, hosts integer)`;

/** Returns the SQL that joins the world `x` at a path `organization/project/slug`; `path` is SQL. */
export const worldAtPath = (path: string): string =>
  `(organizations o join projects j on j.organization_id = o.id join worlds x on x.project_id = j.id)
     on o.slug = split_part(${path}, '/', 1) and j.slug = split_part(${path}, '/', 2)
    and x.slug = split_part(${path}, '/', 3)`;

const removeOthersStatement = statement(
  'remove_other_pools',
  'delete from pools where installation = $1 and not name = any ($2::text[]) returning name',
);

// Unchanged pools are not written again.
const publishStatement = statement(
  'publish_pools',
  `insert into pools as p (installation, name, position, tier, isolation, size, minimum, maximum,
                           target, held, worlds)
   select $1, name, position, tier, isolation, size, minimum, maximum, target, held, worlds
     from json_to_recordset($2::json) as given(name text, position integer, tier text, isolation text,
       size text, minimum integer, maximum integer, target integer, held text, worlds json)
   on conflict (installation, name) do update
      set position = excluded.position, tier = excluded.tier, isolation = excluded.isolation,
          size = excluded.size, minimum = excluded.minimum, maximum = excluded.maximum,
          target = excluded.target, held = excluded.held, worlds = excluded.worlds
    where (p.position, p.tier, p.isolation, p.size, p.minimum, p.maximum, p.target, p.held,
           p.worlds::text)
       is distinct from
          (excluded.position, excluded.tier, excluded.isolation, excluded.size, excluded.minimum,
           excluded.maximum, excluded.target, excluded.held, excluded.worlds::text)
   returning name`,
);

/** Replaces the pools of an installation. Returns true if anything changed. */
export const replacePools = (
  db: Database,
  installation: string,
  pools: readonly PublishedPool[],
): Promise<boolean> =>
  db.transaction(async (tx) => {
    // All writers use the same order, so that they cannot deadlock.
    const rows = pools
      .map((pool, position) => ({ ...pool, position }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const names = pools.map(({ name }) => name);
    const removed = await tx.query(removeOthersStatement, [installation, names]);
    const written = await tx.query(publishStatement, [installation, JSON.stringify(rows)]);
    return removed.length + written.length > 0;
  });

const unknownStatement = statement(
  'unknown_pool_worlds',
  `select distinct preload.world from pools p cross join lateral ${preloads('p')}
     left join ${worldAtPath('preload.world')}
    where p.installation = $1 and x.id is null
    order by 1`,
);

/** Returns worlds that the pools of an installation must keep loaded but that do not exist. */
export const findUnknownWorlds = async (db: Queryable, installation: string): Promise<string[]> =>
  (await db.query<{ world: string }>(unknownStatement, [installation])).map(({ world }) => world);

/** SQL for the pools `p` of installations that have a leader, or had one within the last ten minutes. */
export const publishedPools =
  "pools p join leases l on l.installation = p.installation and l.expires_at > now() - interval '10 minutes'";

/** SQL expressions for the requirements of a session on its host. */
export type Wish = Record<'tier' | 'isolation' | 'size', string>;

/** Returns the SQL expressions for the requirements of the session `s`. */
export const wishOf = (s: string): Wish => ({
  tier: `${s}.browser_tier`,
  isolation: `${s}.isolation`,
  size: `${s}.size`,
});

/** Builds the condition that a host or a pool meets the requirements, by the rules of src/domain/pool.ts. */
export const suits = (offer: string, { tier, isolation, size }: Wish): string =>
  `(${offer}.tier is null or ${offer}.tier = ${tier}) and ${offer}.size = ${size}
     and (${isolation}::text is null or ${offer}.isolation = ${isolation})`;

const offersStatement = statement(
  'pool_offers',
  `select distinct p.tier, p.isolation, p.size from ${publishedPools} where p.size <> '${browserSize}' order by p.size, p.isolation, p.tier`,
);

/** Lists the different offers of the pools of world hosts. */
export const listOffers = (db: Queryable): Promise<HostOffer[]> =>
  db.query<HostOffer>(offersStatement, []);

const blockedStatement = statement(
  'why_no_host',
  `select p.name, p.held, p.maximum, blocked.live
     from sessions s cross join ${publishedPools} cross join lateral (
       select count(*)::int as live from hosts h
        where h.installation = p.installation and h.pool = p.name and h.state in ${liveHosts}
     ) blocked
    where s.id = $1 and ${suits('p', wishOf('s'))}
    order by p.held is not null, blocked.live >= p.maximum, p.installation, p.position
    limit 1`,
);

/**
 * Pool that launches no hosts. `held` is the reason why its launches are suspended; null if the pool has its maximum
 * number of hosts.
 */
export type BlockedPool = { name: string; held: string | null; maximum: number; live: number };

/**
 * Returns a pool that matches a session but cannot launch a host for it. Returns undefined if at least one matching
 * pool can launch one.
 */
export const findBlockedPool = async (
  db: Queryable,
  sessionId: string,
): Promise<BlockedPool | undefined> => {
  const [pool] = await db.query<BlockedPool>(blockedStatement, [sessionId]);
  if (pool === undefined || (pool.held === null && pool.live < pool.maximum)) return undefined;
  return pool;
};

const unsuitedStatement = statement(
  'unsuited_session',
  `select s.browser_tier as tier, s.isolation, s.size from sessions s
    where s.id = $1 and exists (select from ${publishedPools})
      and not exists (select from ${publishedPools} where ${suits('p', wishOf('s'))})`,
);

/**
 * Returns the requirements of a session if pools are published but none of them meets the requirements; otherwise
 * undefined.
 */
export const findUnsuited = async (
  db: Queryable,
  sessionId: string,
): Promise<HostWish | undefined> => (await db.query<HostWish>(unsuitedStatement, [sessionId]))[0];

const keepFileStatement = statement(
  'keep_pools_file',
  `insert into pools_files (installation, content) values ($1, $2)
   on conflict (installation) do update set content = excluded.content, kept_at = now()`,
);

/** Stores the pools file that an orchestrator uses; it replaces the former file. */
export const keepPoolsFile = (db: Database, installation: string, content: string): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.query(keepFileStatement, [installation, content]);
  });

const findFileStatement = statement(
  'find_pools_file',
  'select content from pools_files where installation = $1',
);

/** Returns the last valid pools file of an installation; undefined if none was ever reported. */
export const findPoolsFile = async (
  db: Queryable,
  installation: string,
): Promise<string | undefined> =>
  (await db.query<{ content: string }>(findFileStatement, [installation]))[0]?.content;
