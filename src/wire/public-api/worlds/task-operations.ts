/** Operations on stored tasks. */

import { deleteOperation, getOperation, operation } from '../../operation.ts';
import { IdempotencyHeaders } from '../../schemas.ts';
import { Type } from '../../type.ts';
import { pageOf } from '../lists.ts';
import {
  CreateTaskBody,
  SaveTaskBody,
  StoredTaskDetail,
  StoredTaskView,
  TaskListQuery,
  TaskParams,
  TaskValidation,
  UpdateTaskBody,
  ValidateTaskBody,
} from './task.ts';

const full = {
  429: 'The project already has the maximum number of stored tasks; `limit` is that number.',
};

export const listTasks = getOperation({
  id: 'listTasks',
  summary:
    'The stored tasks of the project, newest first; optionally those of one world, or those with `metadata.<key>=<value>`, which may be repeated',
  path: '/world-tasks',
  access: 'read',
  tools: [{ name: 'list_world_tasks' }],
  query: TaskListQuery,
  answer: pageOf(StoredTaskView),
});

export const createTask = operation({
  id: 'createTask',
  summary: 'Store a task, as its version 1',
  method: 'POST',
  path: '/world-tasks',
  access: 'write',
  tools: [{ name: 'create_world_task' }],
  headers: IdempotencyHeaders,
  body: CreateTaskBody,
  answers: { 200: StoredTaskDetail, 201: StoredTaskDetail },
  refusals: full,
});

export const getTask = getOperation({
  id: 'getTask',
  summary: 'A stored task with its history, and with its current spec or that of another version',
  path: '/world-tasks/{taskId}',
  access: 'read',
  tools: [{ name: 'get_world_task' }],
  params: TaskParams,
  query: Type.Object(
    { version: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })) },
    { additionalProperties: false },
  ),
  answer: StoredTaskDetail,
});

export const updateTask = operation({
  id: 'updateTask',
  summary:
    'Change a stored task: a changed spec becomes its next version; a change of name or world makes no version',
  method: 'PATCH',
  path: '/world-tasks/{taskId}',
  access: 'write',
  tools: [{ name: 'update_world_task' }],
  params: TaskParams,
  body: UpdateTaskBody,
  answers: { 200: StoredTaskDetail },
});

export const deleteTask = deleteOperation({
  id: 'deleteTask',
  summary: 'Delete a stored task with all its versions; open sessions keep their copy',
  path: '/world-tasks/{taskId}',
  access: 'write',
  tools: [{ name: 'delete_world_task' }],
  params: TaskParams,
  answer: Type.Object({ id: Type.String() }),
});

export const validateTask = operation({
  id: 'validateTask',
  summary: 'Check that a stored task fits a version of a world: its tools, its seed and its grader',
  method: 'POST',
  path: '/world-tasks/{taskId}/validate',
  access: 'read',
  tools: [{ name: 'validate_world_task' }],
  params: TaskParams,
  body: Type.Optional(ValidateTaskBody),
  answers: { 200: TaskValidation },
});

export const saveSessionTask = operation({
  id: 'saveSessionTask',
  summary: 'Store the inline task of a session as a stored task',
  method: 'POST',
  path: '/world-sessions/{sessionId}/task',
  access: 'write',
  tools: [{ name: 'save_world_session_task' }],
  params: Type.Object({ sessionId: Type.String({ maxLength: 64 }) }),
  headers: IdempotencyHeaders,
  body: Type.Optional(SaveTaskBody),
  answers: { 200: StoredTaskDetail, 201: StoredTaskDetail },
  refusals: full,
});
