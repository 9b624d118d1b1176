/**
 * Redacts the seed of a stored task by the policy of the task's version, before any of it is stored. Such a task must
 * fit that version, because without the original rows, problems could not be reported later.
 */
import { AppError } from '#domain/error.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import { type KeptStoredTask, keepSpec } from '../../base/bodies/keep.ts';
import type { WorldParts } from '../parts.ts';
import { getVersionOf, getWorld } from '../versions/address.ts';
import { checkSpec } from './check.ts';

/** World of a task, and the version to which the task is pinned; null if it follows the head. */
export type TaskPin = { worldId: string; versionId: string | null };

/** Returns a spec in the form in which it is stored: unchanged, unless its seed asks for redaction. */
export const redactSpec = async (
  parts: WorldParts,
  projectId: string,
  { redacts, ...spec }: KeptStoredTask,
  { worldId, versionId }: TaskPin,
): Promise<Omit<KeptStoredTask, 'redacts'>> => {
  if (!redacts) return spec;
  const world = await getWorld(parts, projectId, worldId);
  const version = await getVersionOf(parts, world, versionId ?? 'latest');
  try {
    const { specJson } = await checkSpec(parts, version, { ...spec, grader: null }, undefined);
    const { redacts: _, ...redacted } = keepSpec(JSON.parse(specJson) as TaskSpec);
    return { ...redacted, name: spec.name };
  } catch (error) {
    if (!(error instanceof AppError) || error.fields.length === 0) throw error;
    const fields = error.fields.map(({ path, message }) => ({
      path: ['spec', ...path.slice(1)],
      message,
    }));
    throw new AppError(error.code, error.message, { fields });
  }
};
