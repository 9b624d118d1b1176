/** Worlds archived, taken back and deleted. Sessions that are open on one go on with their version. */
import { archiveWorld, deleteWorld } from '../db/world-ends.ts';
import type { WorldRow } from '../db/worlds.ts';
import type { Parts } from '../parts.ts';
import { getWorld, goneError } from './address.ts';

/** Archives a world of a project, or takes it back; answers the world as it was. */
export const setArchived = async (
  parts: Parts,
  { projectId, slug, archived }: { projectId: string; slug: string; archived: boolean },
): Promise<WorldRow> => {
  const world = await getWorld(parts, projectId, slug);
  if (!(await archiveWorld(parts.db, world.id, archived))) throw goneError(slug);
  return world;
};

/** Deletes a world of a project. */
export const removeWorld = async (
  parts: Parts,
  projectId: string,
  slug: string,
): Promise<WorldRow> => {
  const world = await getWorld(parts, projectId, slug);
  if (!(await deleteWorld(parts.db, world.id))) throw goneError(slug);
  return world;
};
