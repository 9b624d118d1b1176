/**
 * Links of versions to versions of other worlds. They are written with the version that has them and never change, so
 * that a session of it always meets the same worlds.
 */
import type { VersionLink } from '#domain/world.ts';
import { type Queryable, statement } from './database.ts';

const insertStatement = statement(
  'insert_version_link',
  `insert into version_links (version_id, alias, position, target_id, tools) values ($1, $2, $3, $4, $5)`,
);

/** Writes the links of a new version. */
export const insertVersionLinks = async (
  db: Queryable,
  versionId: string,
  links: readonly VersionLink[],
): Promise<void> => {
  for (const [position, { alias, versionId: target, tools }] of links.entries()) {
    await db.query(insertStatement, [versionId, alias, position, target, JSON.stringify(tools)]);
  }
};

/** The links of the version `v` in a query, as a JSON list of `VersionLink`. */
export const linksColumn = `(select coalesce(json_agg(json_build_object('alias', l.alias,
    'versionId', l.target_id, 'number', t.number, 'tools', l.tools) order by l.position), '[]')
   from version_links l join versions t on t.id = l.target_id where l.version_id = v.id)`;

const reachStatement = statement(
  'worlds_linked_to',
  `with recursive reached (version_id, path) as (
     select $1::text, array[]::text[]
     union
     select l.target_id, r.path || l.alias
       from reached r join version_links l on l.version_id = r.version_id
      where cardinality(r.path) < $3
   )
   select r.path from reached r join versions v on v.id = r.version_id
    where v.world_id = $2 limit 1`,
);

/** How deep links are followed; a circle is refused when it is made, so no chain comes near it. */
const mostDeep = 64;

/** The aliases by which a version leads to a world, directly or through others; undefined when it does not. */
export const findWayTo = async (
  db: Queryable,
  versionId: string,
  worldId: string,
): Promise<string[] | undefined> =>
  (await db.query<{ path: string[] }>(reachStatement, [versionId, worldId, mostDeep]))[0]?.path;

const dependentsStatement = statement(
  'worlds_that_link_to',
  `select distinct w.slug, max(v.number)::int as number
     from version_links l
     join versions t on t.id = l.target_id and t.world_id = $1
     join versions v on v.id = l.version_id and v.world_id <> $1
     join worlds w on w.id = v.world_id and w.deleted_at is null
    group by w.slug order by w.slug limit 20`,
);

/** Worlds of which a version is linked to one of this world, each with the newest such version. */
export const listDependents = (
  db: Queryable,
  worldId: string,
): Promise<{ slug: string; number: number }[]> => db.query(dependentsStatement, [worldId]);
