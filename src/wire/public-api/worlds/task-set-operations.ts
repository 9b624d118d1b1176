/** Operations on task sets. */
import { deleteOperation, getOperation, operation } from '../../operation.ts';
import { Type } from '../../type.ts';
import { cursorParams } from '../evaluation/dataset.ts';
import { TaskSetBody, TaskSetList, TaskSetParams, TaskSetView } from './task-set.ts';

export const createTaskSet = operation({
  id: 'createTaskSet',
  summary: 'Create a task set: a list of stored tasks to show together',
  method: 'POST',
  path: '/task-sets',
  access: 'write',
  body: TaskSetBody,
  answers: { 201: TaskSetView },
  refusals: {
    409: 'A task set with this name exists; `taskSetId` is its id.',
    429: 'The project already has the maximum number of task sets.',
  },
});

export const listTaskSets = getOperation({
  id: 'listTaskSets',
  summary: 'Task sets, newest first',
  path: '/task-sets',
  access: 'read',
  query: Type.Object(cursorParams),
  answer: TaskSetList,
});

export const getTaskSet = getOperation({
  id: 'getTaskSet',
  summary: 'A task set',
  path: '/task-sets/{taskSetId}',
  access: 'read',
  unknown: 'ignored',
  params: TaskSetParams,
  answer: TaskSetView,
});

export const deleteTaskSet = deleteOperation({
  id: 'deleteTaskSet',
  summary: 'Delete a task set; its tasks are not deleted',
  path: '/task-sets/{taskSetId}',
  access: 'write',
  params: TaskSetParams,
  answer: Type.Object({ deleted: Type.String() }),
  refusals: { 409: 'Dashboards use the task set; `dashboardIds` names some.' },
});
