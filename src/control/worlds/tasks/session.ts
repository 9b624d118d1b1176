/** Stores the inline task of a session as a task of the project. */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import { keepSpec } from '../../base/bodies/keep.ts';
import { hashOf } from '../../base/json/canonical.ts';
import { noSession } from '../../db/sessions/sessions.ts';
import { findSessionTask } from '../../db/worlds/world-tasks.ts';
import type { WorldParts } from '../parts.ts';
import { storeTask, type TaskAuthor } from './stored.ts';

/** Request to store the task of a session. */
export type SaveRequest = {
  sessionId: string;
  name?: string | undefined;
  message?: string | undefined;
  idempotencyKey: string | undefined;
};

/** Stores the task, pinned to the version of the session. Throws `conflict` if the session has no inline task. */
export const saveSessionTask = async (
  parts: WorldParts,
  { projectId, publicKey: author }: TaskAuthor,
  { sessionId, name, message, idempotencyKey }: SaveRequest,
): Promise<{ id: string; isNew: boolean }> => {
  const found = await findSessionTask(parts.db, projectId, sessionId);
  if (found === undefined) throw noSession(sessionId);
  const { form, specJson, worldId, versionId } = found;
  if (form !== 'inline' || specJson === null) {
    const has = form === null ? 'no task' : `a ${form} task`;
    const said = `${sessionId} has ${has}; only an inline task of a session can be stored`;
    throw new AppError('conflict', said);
  }
  const { name: ownName, redacts: _, ...kept } = keepSpec(JSON.parse(specJson) as TaskSpec);
  return storeTask(parts, {
    ...kept,
    id: newId('tsk'),
    projectId,
    worldId,
    versionId,
    name: name ?? ownName,
    message: message ?? null,
    author,
    idempotencyKey: idempotencyKey ?? null,
    requestHash: idempotencyKey === undefined ? null : hashOf({ sessionId, name, message }),
  });
};
