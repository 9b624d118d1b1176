/** Builds the views of stored tasks that clients see. */
import type {
  StoredTaskDetail,
  StoredTaskView,
  TaskVersionView,
} from '#wire/public-api/worlds/task.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import { JsonText } from '../../base/json/json-text.ts';
import {
  listTaskVersions,
  type StoredTask,
  type TaskVersion,
} from '../../db/worlds/world-tasks.ts';
import type { KeyLevel } from '../../platform/tokens/tokens.ts';
import type { WorldParts } from '../parts.ts';
import { getSpec, getTask } from './stored.ts';

/** Returns the view of a task as lists show it. */
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

/**
 * Returns the spec as the holder of the key may see it. Agents may have public keys, so such keys do not reveal how a
 * task is solved.
 */
const shownSpec = (specJson: string, level: KeyLevel): string => {
  if (level === 'secret') return specJson;
  const { solution, alternatives, ...spec } = JSON.parse(specJson) as TaskSpec;
  return solution === undefined && alternatives === undefined ? specJson : JSON.stringify(spec);
};

/** Returns the view of a task with a spec and the history of its versions. */
export const viewTaskDetail = async (
  parts: WorldParts,
  { projectId, level }: { projectId: string; level: KeyLevel },
  id: string,
  version?: number | undefined,
): Promise<StoredTaskDetail> => {
  const task = await getTask(parts, projectId, id);
  const spec = await getSpec(parts, projectId, { id, version });
  const versions = await listTaskVersions(parts.db, id);
  return {
    ...viewTask(task),
    spec: new JsonText(shownSpec(spec.specJson, level)) as unknown as StoredTaskDetail['spec'],
    shownVersion: spec.version,
    versions: versions.map(viewVersion),
  };
};
