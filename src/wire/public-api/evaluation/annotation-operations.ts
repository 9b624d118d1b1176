/** Operations on annotation queues. */
import { deleteOperation, getOperation, operation } from '../../operation.ts';
import {
  AssignmentBody,
  AssignmentView,
  QueueBody,
  QueueItemBody,
  QueueItemChange,
  QueueItemList,
  QueueItemParams,
  QueueItemQuery,
  QueueItemView,
  QueueList,
  QueueParams,
  QueueQuery,
  QueueView,
  Removed,
  Unassigned,
} from './annotation.ts';

export const createQueue = operation({
  id: 'createAnnotationQueue',
  summary:
    'Create an annotation queue; its items are scored by the score configs that the queue names',
  method: 'POST',
  path: '/annotation-queues',
  access: 'write',
  unknown: 'ignored',
  body: QueueBody,
  answers: { 200: QueueView },
  refusals: { 429: 'The project already has the maximum number of queues.' },
});

export const listQueues = getOperation({
  id: 'listAnnotationQueues',
  summary: 'Annotation queues, newest first',
  path: '/annotation-queues',
  access: 'write',
  unknown: 'ignored',
  query: QueueQuery,
  answer: QueueList,
});

export const getQueue = getOperation({
  id: 'getAnnotationQueue',
  summary: 'An annotation queue',
  path: '/annotation-queues/{queueId}',
  access: 'write',
  unknown: 'ignored',
  params: QueueParams,
  answer: QueueView,
});

export const addQueueItem = operation({
  id: 'addAnnotationQueueItem',
  summary:
    'Add a trace, an observation or a session to a queue; if it is in the queue already, nothing changes',
  method: 'POST',
  path: '/annotation-queues/{queueId}/items',
  access: 'write',
  unknown: 'ignored',
  params: QueueParams,
  body: QueueItemBody,
  answers: { 200: QueueItemView },
});

export const listQueueItems = getOperation({
  id: 'listAnnotationQueueItems',
  summary: 'The items of a queue, newest first, optionally only those with a given status',
  path: '/annotation-queues/{queueId}/items',
  access: 'write',
  unknown: 'ignored',
  params: QueueParams,
  query: QueueItemQuery,
  answer: QueueItemList,
});

export const getQueueItem = getOperation({
  id: 'getAnnotationQueueItem',
  summary: 'An item of a queue',
  path: '/annotation-queues/{queueId}/items/{itemId}',
  access: 'write',
  unknown: 'ignored',
  params: QueueItemParams,
  answer: QueueItemView,
});

export const updateQueueItem = operation({
  id: 'updateAnnotationQueueItem',
  summary: 'Complete an item of a queue, or make it pending again',
  method: 'PATCH',
  path: '/annotation-queues/{queueId}/items/{itemId}',
  access: 'write',
  unknown: 'ignored',
  params: QueueItemParams,
  body: QueueItemChange,
  answers: { 200: QueueItemView },
});

export const removeQueueItem = deleteOperation({
  id: 'removeAnnotationQueueItem',
  summary: 'Remove an item from a queue',
  path: '/annotation-queues/{queueId}/items/{itemId}',
  access: 'write',
  unknown: 'ignored',
  params: QueueItemParams,
  answer: Removed,
});

export const assignQueue = operation({
  id: 'assignAnnotationQueue',
  summary: 'Assign a member of the project to a queue',
  method: 'POST',
  path: '/annotation-queues/{queueId}/assignments',
  access: 'write',
  unknown: 'ignored',
  params: QueueParams,
  body: AssignmentBody,
  answers: { 200: AssignmentView },
});

export const unassignQueue = deleteOperation({
  id: 'unassignAnnotationQueue',
  summary: 'Remove the assignment of a member to a queue',
  path: '/annotation-queues/{queueId}/assignments',
  access: 'write',
  unknown: 'ignored',
  params: QueueParams,
  body: AssignmentBody,
  answer: Unassigned,
});
