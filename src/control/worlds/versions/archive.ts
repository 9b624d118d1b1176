/**
 * Archives, restores and deletes worlds. Open sessions of a world continue with the version that they were opened with.
 */
import { AppError } from '#domain/error.ts';
import { listDependents } from '../../db/worlds/version-links.ts';
import { archiveWorld, deleteWorld } from '../../db/worlds/world-ends.ts';
import type { WorldRow } from '../../db/worlds/worlds.ts';
import type { WorldParts } from '../parts.ts';
import { getWorld, goneError } from './address.ts';

const linkedError = (slug: string, dependents: { slug: string; number: number }[]): AppError => {
  const named = dependents.map((one) => `${one.slug}@${one.number}`).join(', ');
  const message = `the world "${slug}" is linked to by ${named}: delete what links to it first, or archive it with "svc worlds archive ${slug}"`;
  return new AppError('conflict', message, { detail: { dependents } });
};

/** Archives or restores a world of a project. Returns the world as it was before. */
export const setArchived = async (
  parts: WorldParts,
  { projectId, slug, archived }: { projectId: string; slug: string; archived: boolean },
): Promise<WorldRow> => {
  const world = await getWorld(parts, projectId, slug);
  if (!(await archiveWorld(parts.db, world.id, archived))) throw goneError(slug);
  return world;
};

/** Deletes a world of a project. Throws `conflict` if a version of another world links to it. */
export const removeWorld = async (
  parts: WorldParts,
  projectId: string,
  slug: string,
): Promise<WorldRow> => {
  const world = await getWorld(parts, projectId, slug);
  const dependents = await listDependents(parts.db, world.id);
  if (dependents.length > 0) throw linkedError(world.slug, dependents);
  if (!(await deleteWorld(parts.db, world.id))) throw goneError(slug);
  return world;
};
