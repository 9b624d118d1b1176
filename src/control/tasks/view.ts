/** Stored tasks as clients see them. */
import type { StoredTaskDetail, StoredTaskView, TaskVersionView } from '#wire/public-api/task.ts';
import { listTaskVersions, type StoredTask, type TaskVersion } from '../db/world-tasks.ts';
import { JsonText } from '../json/json-text.ts';
import type { Parts } from '../parts.ts';
import { getSpec, getTask } from './stored.ts';

/** A task in a list. */
export const viewTask = (task: StoredTask): StoredTaskView => ({
  id: task.id,
  name: task.name,
  world: task.slug,
  worldId: task.worldId,
  pin: task.pin,
  version: task.version,
  contentHash: task.contentHash,
  createdAt: task.createdAt.toISOString(),
  updatedAt: task.updatedAt.toISOString(),
});

const viewVersion = ({ createdAt, ...version }: TaskVersion): TaskVersionView => ({
  ...version,
  createdAt: createdAt.toISOString(),
});

/** A task with a spec and its history. */
export const viewTaskDetail = async (
  parts: Parts,
  projectId: string,
  id: string,
  version?: number | undefined,
): Promise<StoredTaskDetail> => {
  const task = await getTask(parts, projectId, id);
  const spec = await getSpec(parts, projectId, { id, version });
  const versions = await listTaskVersions(parts.db, id);
  return {
    ...viewTask(task),
    spec: new JsonText(spec.specJson) as unknown as StoredTaskDetail['spec'],
    shownVersion: spec.version,
    versions: versions.map(viewVersion),
  };
};
