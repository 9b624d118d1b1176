/** A world of a project by its slug, alone or with its head version. */
import { AppError } from '#domain/error.ts';
import { suggestName } from '#language/read/suggest.ts';
import { findWorld, listSlugs, type WorldRow } from '../db/worlds.ts';
import type { Version } from '../memory/versions.ts';
import type { Parts } from '../parts.ts';

/** Throws `not_found`, with the names that may be meant, when the project has no world of that slug. */
export const getWorld = async (
  { db }: Parts,
  projectId: string,
  slug: string,
): Promise<WorldRow> => {
  const world = await findWorld(db, projectId, slug);
  if (world !== undefined) return world;
  const hint = suggestName(slug, await listSlugs(db, projectId)) ?? 'the project has none yet';
  throw new AppError('not_found', `there is no world "${slug}"; ${hint}`);
};

/** Throws `not_found` when the project has no world of that slug. */
export const findHead = async (
  parts: Parts,
  projectId: string,
  slug: string,
): Promise<{ world: WorldRow; head: Version }> => {
  const world = await getWorld(parts, projectId, slug);
  const head = await parts.versions.get(world.headVersionId);
  if (head === undefined) throw new AppError('internal', `world "${slug}" lacks its head version`);
  return { world, head };
};
