/** Names of worlds. Slugs, names and descriptions can change; a former slug still leads to the current one. */
import { type Queryable, statement } from '../core/database.ts';

/** New names of a world. Null leaves a value unchanged. */
export type NewNames = {
  slug: string | null;
  name: string | null;
  /** Description; an empty text removes it. */
  description: string | null;
};

// A slug that the world takes again is removed from its former slugs.
const renameStatement = statement(
  'rename_world',
  `update worlds
      set slug = coalesce(:slug, slug), name = coalesce(:name, name),
          description = case when :description::text is null then description else nullif(:description, '') end,
          earlier_slugs = case when :slug is null or :slug = slug then earlier_slugs
                               else array_append(array_remove(array_remove(earlier_slugs, :slug), slug), slug) end
    where id = :id and deleted_at is null returning id`,
);

/** Renames a world. Returns false if the world was deleted. Throws if another world has the slug. */
export const renameWorld = async (db: Queryable, id: string, names: NewNames): Promise<boolean> =>
  (await db.query(renameStatement, { id, ...names })).length > 0;

const renamedStatement = statement(
  'find_renamed_world',
  `select slug from worlds
    where project_id = $1 and $2 = any(earlier_slugs) and deleted_at is null
    order by id desc limit 1`,
);

/** Returns the current slug of the world that had the given slug before; undefined if no world had it. */
export const findRenamed = async (
  db: Queryable,
  projectId: string,
  slug: string,
): Promise<string | undefined> =>
  (await db.query<{ slug: string }>(renamedStatement, [projectId, slug]))[0]?.slug;

const currentStatement = statement(
  'find_world_slug',
  `select coalesce(former_slug, slug) as slug from worlds where id = $1`,
);

/**
 * Returns the slug of a world, or the last slug if the world was deleted; undefined if there was never such a world.
 */
export const findSlug = async (db: Queryable, worldId: string): Promise<string | undefined> =>
  (await db.query<{ slug: string }>(currentStatement, [worldId]))[0]?.slug;
