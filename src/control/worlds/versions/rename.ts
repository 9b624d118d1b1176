/** Renames a world. The id, the versions and the sessions of the world stay; the former slug is free at once. */
import { AppError } from '#domain/error.ts';
import type { RenameBody } from '#wire/public-api/worlds/version.ts';
import { violates } from '../../db/core/errors.ts';
import { renameWorld } from '../../db/worlds/world-names.ts';
import { type WorldRow, worldSlugConstraint } from '../../db/worlds/worlds.ts';
import type { WorldParts } from '../parts.ts';
import { getWorld, goneError } from './address.ts';
import { checkSlug, slugTaken } from './create.ts';

/**
 * Renames a world of a project. Returns the world as it was before. Throws `conflict` if another world has the slug.
 */
export const rename = async (
  parts: WorldParts,
  projectId: string,
  slug: string,
  { slug: next, name, description }: RenameBody,
): Promise<WorldRow> => {
  if (next === undefined && name === undefined && description === undefined) {
    throw new AppError(
      'invalid',
      'there is nothing to change: give "slug", "name" or "description"',
    );
  }
  if (next !== undefined) checkSlug(next);
  const world = await getWorld(parts, projectId, slug);
  const names = { slug: next ?? null, name: name ?? null, description: description ?? null };
  try {
    if (await renameWorld(parts.db, world.id, names)) return world;
  } catch (error) {
    throw violates(error, worldSlugConstraint) ? slugTaken(next ?? slug) : error;
  }
  throw goneError(world.slug);
};
