/**
 * Checks whether a stored task fits a version of a world: the task's own version, or another one that the client names.
 */
import { AppError } from '#domain/error.ts';
import type { TaskValidation, ValidateTaskBody } from '#wire/public-api/worlds/task.ts';
import type { WorldParts } from '../parts.ts';
import { getVersionOf, getWorld, parseAddress } from '../versions/address.ts';
import { checkSpec } from './check.ts';
import { getSpec, getTask } from './stored.ts';

/** Checks the task without changing anything. Throws `not_found` if the task, world or version does not exist. */
export const validateTask = async (
  parts: WorldParts,
  { projectId, taskId }: { projectId: string; taskId: string },
  { world: address, versionId, version }: ValidateTaskBody,
  signal: AbortSignal | undefined,
): Promise<TaskValidation> => {
  const stored = await getTask(parts, projectId, taskId);
  const spec = await getSpec(parts, projectId, { id: taskId, version });
  const { slug, ref } = parseAddress(address ?? stored.worldId);
  const world = await getWorld(parts, projectId, slug);
  const pinned = address === undefined ? stored.pin?.versionId : undefined;
  const target = await getVersionOf(parts, world, versionId ?? ref ?? pinned ?? 'latest');
  const answer = {
    taskId,
    version: spec.version,
    world: world.slug,
    versionId: target.id,
    worldVersion: target.number,
  };
  try {
    await checkSpec(parts, target, spec.task, signal);
    return { ...answer, valid: true, problems: [] };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid') throw error;
    const problems = error.fields.map(({ path, message }) => ({ path: path.slice(1), message }));
    return { ...answer, valid: false, problems };
  }
};
