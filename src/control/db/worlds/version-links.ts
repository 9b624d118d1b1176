/**
 * Links of versions to versions of other worlds. They are written together with the version that has them, and never
 * change. So sessions of a version always use the same linked versions.
 */
import type { VersionLink } from '#domain/world.ts';
import { type Queryable, statement } from '../core/database.ts';

const insertStatement = statement(
  'insert_version_link',
  `insert into version_links (version_id, alias, position, target_id, tools) values ($1, $2, $3, $4, $5)`,
);

/** Inserts the links of a new version. */
export const insertVersionLinks = async (
  db: Queryable,
  versionId: string,
  links: readonly VersionLink[],
): Promise<void> => {
  for (const [position, { alias, versionId: target, tools }] of links.entries()) {
    await db.query(insertStatement, [versionId, alias, position, target, JSON.stringify(tools)]);
  }
};

/** SQL for the links of the version `v`, as a JSON list of `VersionLink`. */
export const linksColumn = `(select coalesce(json_agg(json_build_object('alias', l.alias,
    'versionId', l.target_id, 'number', t.number, 'tools', l.tools) order by l.position), '[]')
   from version_links l join versions t on t.id = l.target_id where l.version_id = v.id)`;

const reachStatement = statement(
  'version_leads_to_world',
  `with recursive reached (version_id) as (
     select $1::text
     union
     select l.target_id from reached r join version_links l on l.version_id = r.version_id
   )
   select exists (select from reached r join versions v on v.id = r.version_id
                   where v.world_id = $2) as leads`,
);

const leadsTo = async (db: Queryable, versionId: string, worldId: string): Promise<boolean> =>
  (await db.query<{ leads: boolean }>(reachStatement, [versionId, worldId]))[0]?.leads === true;

const nextStatement = statement(
  'links_of_version',
  `select l.alias, l.target_id as "versionId", v.world_id as "worldId"
     from versions v left join version_links l on l.version_id = v.id
    where v.id = $1 order by l.position`,
);

type Step = { alias: string | null; versionId: string | null; worldId: string };

/**
 * Returns the aliases of the links that lead from a version to a world, directly or through other versions; an empty
 * list if the version belongs to that world. Returns undefined if no links lead there. Each query visits a version only
 * once, however many paths lead to it.
 */
export const findPathTo = async (
  db: Queryable,
  versionId: string,
  worldId: string,
): Promise<string[] | undefined> => {
  if (!(await leadsTo(db, versionId, worldId))) return undefined;
  const path: string[] = [];
  let at = versionId;
  for (;;) {
    const steps = await db.query<Step>(nextStatement, [at]);
    if (steps.some((step) => step.worldId === worldId)) return path;
    let next: string | undefined;
    for (const { alias, versionId: target } of steps) {
      if (alias === null || target === null || !(await leadsTo(db, target, worldId))) continue;
      path.push(alias);
      next = target;
      break;
    }
    if (next === undefined) return path;
    at = next;
  }
};

const dependentsStatement = statement(
  'worlds_that_link_to',
  `select distinct w.slug, max(v.number)::int as number
     from version_links l
     join versions t on t.id = l.target_id and t.world_id = $1
     join versions v on v.id = l.version_id and v.world_id <> $1
     join worlds w on w.id = v.world_id and w.deleted_at is null
    group by w.slug order by w.slug limit 20`,
);

/** Lists worlds that have a version which links to this world, each with the newest such version. */
export const listDependents = (
  db: Queryable,
  worldId: string,
): Promise<{ slug: string; number: number }[]> => db.query(dependentsStatement, [worldId]);
