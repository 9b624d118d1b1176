/** Operations on task sets. */
import { operation } from '../../operation.ts';
import { Type } from '../../type.ts';
import { cursorParams } from '../evaluation/dataset.ts';
import { TaskSetBody, TaskSetList, TaskSetParams, TaskSetView } from './task-set.ts';

export const createTaskSet = operation({
  id: 'createTaskSet',
  summary: 'Make a list of stored tasks, to look at together',
  method: 'POST',
  path: '/task-sets',
  access: 'write',
  body: TaskSetBody,
  answers: { 201: TaskSetView },
  refusals: {
    409: 'There is a set of this name; `taskSetId` is its id.',
    429: 'The project has no room for another.',
  },
});

export const listTaskSets = operation({
  id: 'listTaskSets',
  summary: 'Task sets, newest first',
  method: 'GET',
  path: '/task-sets',
  access: 'read',
  query: Type.Object(cursorParams),
  answers: { 200: TaskSetList },
});

export const getTaskSet = operation({
  id: 'getTaskSet',
  summary: 'A task set',
  method: 'GET',
  path: '/task-sets/{taskSetId}',
  access: 'read',
  unknown: 'ignored',
  params: TaskSetParams,
  answers: { 200: TaskSetView },
});

export const deleteTaskSet = operation({
  id: 'deleteTaskSet',
  summary: 'Delete a task set; its tasks stay',
  method: 'DELETE',
  path: '/task-sets/{taskSetId}',
  access: 'write',
  params: TaskSetParams,
  answers: { 200: Type.Object({ deleted: Type.String() }) },
  refusals: { 409: 'There are dashboards of it; `dashboardIds` names some.' },
});
