/** Stored tasks: created, changed, deleted, and found when sessions are opened. */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { limits } from '#domain/limits.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import {
  type KeptCreateTask,
  type KeptTask,
  type KeptUpdateTask,
  keepTask,
} from '../../base/bodies/keep.ts';
import { violates } from '../../db/core/errors.ts';
import {
  changeTask,
  deleteTask,
  findSpec,
  findTask,
  findTaskByKey,
  insertTask,
  type NewTask,
  type StoredTask,
  taskKeyIndex,
} from '../../db/worlds/world-tasks.ts';
import type { WorldParts } from '../parts.ts';
import { checkInUse, getVersionOf, getWorld, parseAddress } from '../versions/address.ts';
import { redactSpec } from './redact.ts';

/** Author of stored tasks: the project, and the public key of the key pair. */
export type TaskAuthor = { projectId: string; publicKey: string };

const noTask = (id: string): AppError =>
  new AppError('not_found', `there is no stored task "${id}"; "svc worlds task list" shows them`);

/** Returns the stored task with this id. Throws `not_found` if the project has none. */
export const getTask = async (
  { db }: WorldParts,
  projectId: string,
  id: string,
): Promise<StoredTask> => {
  const task = await findTask(db, projectId, id);
  if (task === undefined) throw noTask(id);
  return task;
};

/** Spec of a stored task, in one of its versions. */
export type StoredSpec = {
  id: string;
  version: number;
  contentHash: string;
  specJson: string;
  /** Task in the form that sessions use, with the name of the stored task. */
  task: KeptTask;
};

/** Returns the spec of a stored task; the current one unless a version is named. Throws `not_found`. */
export const getSpec = async (
  parts: WorldParts,
  projectId: string,
  { id, version }: { id: string; version?: number | undefined },
): Promise<StoredSpec> => {
  const stored = await getTask(parts, projectId, id);
  const found = await findSpec(parts.db, id, version ?? stored.version);
  if (found === undefined) {
    const message = `task "${id}" has no version ${version}; its newest is ${stored.version}`;
    throw new AppError('not_found', message);
  }
  const spec = JSON.parse(found.specJson) as TaskSpec;
  const { name } = stored;
  return { ...found, id, task: keepTask(name === null ? spec : { name, ...spec }) };
};

const field = (name: string, message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path: [name], message }] });

/** Returns the world of a task, and the version to which the task is pinned; null if it follows the head. */
const resolvePin = async (
  parts: WorldParts,
  projectId: string,
  address: string,
  versionId: string | null | undefined,
): Promise<{ worldId: string; versionId: string | null }> => {
  const { slug, ref } = parseAddress(address);
  const world = await getWorld(parts, projectId, slug);
  checkInUse(world);
  if (versionId !== undefined && versionId !== null) {
    if (ref !== undefined)
      throw field('versionId', `"${address}" already names a version; omit versionId`);
    await getVersionOf(parts, world, versionId);
  }
  const named = ref ?? versionId ?? undefined;
  if (named === undefined) return { worldId: world.id, versionId: null };
  return { worldId: world.id, versionId: (await getVersionOf(parts, world, named)).id };
};

const tooMany = (): AppError => {
  const limit = limits.storedTasks;
  const message = `the project has ${limit} stored tasks, the maximum: delete some first`;
  return new AppError('exhausted', message, { detail: { limit } });
};

/**
 * Returns the task that an earlier request with the same `Idempotency-Key` stored. Throws `conflict` if that request
 * differed.
 */
const findFirst = async ({ db }: WorldParts, task: NewTask): Promise<StoredTask | undefined> => {
  const { projectId, idempotencyKey } = task;
  if (idempotencyKey === null) return undefined;
  const first = await findTaskByKey(db, projectId, idempotencyKey);
  if (first === undefined || first.requestHash === task.requestHash) return first;
  const message = `this Idempotency-Key stored ${first.id} with another body`;
  throw new AppError('conflict', message);
};

/** Stores a task, unless an earlier request with the same `Idempotency-Key` did. */
export const storeTask = async (
  parts: WorldParts,
  task: NewTask,
): Promise<{ id: string; isNew: boolean }> => {
  const first = await findFirst(parts, task);
  if (first !== undefined) return { id: first.id, isNew: false };
  try {
    if (!(await insertTask(parts.db, task))) throw tooMany();
  } catch (error) {
    if (!violates(error, taskKeyIndex)) throw error;
    const winner = await findFirst(parts, task);
    if (winner === undefined) throw error;
    return { id: winner.id, isNew: false };
  }
  return { id: task.id, isNew: true };
};

/** Stores a task as version 1. */
export const createTask = async (
  parts: WorldParts,
  { projectId, publicKey: author }: TaskAuthor,
  { world, versionId, name, spec, message, hash }: KeptCreateTask,
  idempotencyKey: string | undefined,
): Promise<{ id: string; isNew: boolean }> => {
  const pin = await resolvePin(parts, projectId, world, versionId);
  const { name: ownName, ...kept } = await redactSpec(parts, projectId, spec, pin);
  return storeTask(parts, {
    ...kept,
    ...pin,
    id: newId('tsk'),
    projectId,
    name: name ?? ownName,
    message: message ?? null,
    author,
    idempotencyKey: idempotencyKey ?? null,
    requestHash: hash,
  });
};

/** Returns the world and the pin after a change; undefined if neither of them changes. */
const changedPin = (
  parts: WorldParts,
  task: StoredTask,
  { world, versionId }: Pick<KeptUpdateTask, 'world' | 'versionId'>,
) => {
  if (world === undefined && versionId === undefined) return undefined;
  return resolvePin(parts, task.projectId, world ?? task.worldId, versionId);
};

/**
 * Changes a stored task. Throws `not_found` if there is no such task, and `exhausted` if it has the maximum number of
 * versions.
 */
export const updateTask = async (
  parts: WorldParts,
  { projectId, publicKey: author }: TaskAuthor,
  id: string,
  change: KeptUpdateTask,
): Promise<void> => {
  const task = await getTask(parts, projectId, id);
  const world = await changedPin(parts, task, change);
  const pin = world ?? { worldId: task.worldId, versionId: task.pin?.versionId ?? null };
  const spec = change.spec && (await redactSpec(parts, projectId, change.spec, pin));
  const { name: ownName, ...kept } = spec ?? { name: null };
  const changed = await changeTask(parts.db, projectId, id, {
    name: change.name === undefined && ownName !== null ? ownName : change.name,
    world,
    spec: 'specJson' in kept ? { ...kept, message: change.message ?? null, author } : undefined,
  });
  if (changed === 'gone') throw noTask(id);
  if (changed === 'changed') return;
  const limit = limits.taskVersions;
  const message = `task "${id}" has ${limit} versions, the maximum: store another task`;
  throw new AppError('exhausted', message, { detail: { limit } });
};

/** Deletes a stored task with all its versions. */
export const removeTask = async (
  parts: WorldParts,
  projectId: string,
  id: string,
): Promise<void> => {
  if (!(await deleteTask(parts.db, projectId, id))) throw noTask(id);
};
