/** A world of a project with its head version. */
import { AppError } from '#domain/error.ts';
import { findWorld, type WorldRow } from '../db/worlds.ts';
import type { Parts } from '../parts.ts';
import type { Version } from './versions.ts';

/** Throws `not_found` when the project has no world of that slug. */
export const findHead = async (
  { db, versions }: Pick<Parts, 'db' | 'versions'>,
  projectId: string,
  slug: string,
): Promise<{ world: WorldRow; head: Version }> => {
  const world = await findWorld(db, projectId, slug);
  if (world === undefined) throw new AppError('not_found', `there is no world "${slug}"`);
  const head = await versions.get(world.headVersionId);
  if (head === undefined) throw new AppError('internal', `world "${slug}" lacks its head version`);
  return { world, head };
};
