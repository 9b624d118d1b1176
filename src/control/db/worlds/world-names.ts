/** What worlds are called: their slugs and texts change, and a slug that one had before still tells where it went. */
import { type Queryable, statement } from '../core/database.ts';

/** What a world is to be called; null leaves it as it is. */
export type NewNames = {
  slug: string | null;
  name: string | null;
  /** The empty text takes it away. */
  description: string | null;
};

// A slug that it takes again is no earlier one.
const renameStatement = statement(
  'rename_world',
  `update worlds
      set slug = coalesce(:slug, slug), name = coalesce(:name, name),
          description = case when :description::text is null then description else nullif(:description, '') end,
          earlier_slugs = case when :slug is null or :slug = slug then earlier_slugs
                               else array_append(array_remove(array_remove(earlier_slugs, :slug), slug), slug) end
    where id = :id and deleted_at is null returning id`,
);

/** Calls a world otherwise; false when it is not there any more. Throws for a slug that another has. */
export const renameWorld = async (db: Queryable, id: string, names: NewNames): Promise<boolean> =>
  (await db.query(renameStatement, { id, ...names })).length > 0;

const renamedStatement = statement(
  'find_renamed_world',
  `select slug from worlds
    where project_id = $1 and $2 = any(earlier_slugs) and deleted_at is null
    order by id desc limit 1`,
);

/** What a world is called now that had this slug before; undefined when none had. */
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

/** What a world is called, or was when it was deleted. */
export const findSlug = async (db: Queryable, worldId: string): Promise<string | undefined> =>
  (await db.query<{ slug: string }>(currentStatement, [worldId]))[0]?.slug;
