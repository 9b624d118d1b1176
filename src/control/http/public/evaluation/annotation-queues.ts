/** Endpoints of annotation queues. */
import { AppError } from '#domain/error.ts';
import { cleanText } from '#observability/read-value.ts';
import * as api from '#wire/public-api/operations.ts';
import { removeQueueItem, unassignQueue } from '../../../db/evaluation/annotation-queues.ts';
import { keyOf } from '../../../db/observability/trace-keys.ts';
import {
  addItem,
  assign,
  changeQueueItem,
  createQueue,
  getQueue,
  readQueue,
  readQueueItem,
  readQueueItems,
  readQueues,
} from '../../../evaluation/annotation-queues.ts';
import type { Parts } from '../../../parts.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

export const annotationEndpoints = ({ traces: { db } }: Parts): Endpoint[] => [
  endpoint(api.createQueue, async ({ body }, { caller: { projectId } }) =>
    respond(200, await createQueue(db, projectId, body)),
  ),

  endpoint(api.listQueues, async ({ query }, { caller: { projectId } }) =>
    respond(200, await readQueues(db, projectId, query)),
  ),

  endpoint(api.getQueue, async ({ params }, { caller: { projectId } }) =>
    respond(200, await readQueue(db, projectId, params.queueId)),
  ),

  endpoint(api.addQueueItem, async ({ params, body }, { caller: { projectId } }) => {
    const queue = await getQueue(db, projectId, params.queueId);
    return respond(200, await addItem(db, queue, body));
  }),

  endpoint(api.listQueueItems, async ({ params, query }, { caller: { projectId } }) => {
    const queue = await getQueue(db, projectId, params.queueId);
    return respond(200, await readQueueItems(db, queue, query));
  }),

  endpoint(api.getQueueItem, async ({ params }, { caller: { projectId } }) => {
    const queue = await getQueue(db, projectId, params.queueId);
    return respond(200, await readQueueItem(db, queue, params.itemId));
  }),

  endpoint(api.updateQueueItem, async ({ params, body }, { caller: { projectId } }) => {
    const queue = await getQueue(db, projectId, params.queueId);
    return respond(200, await changeQueueItem(db, queue, params.itemId, body));
  }),

  endpoint(api.removeQueueItem, async ({ params }, { caller: { projectId } }) => {
    const queue = await getQueue(db, projectId, params.queueId);
    if (!(await removeQueueItem(db, keyOf(projectId, params.itemId), queue.key))) {
      throw new AppError('not_found', 'Annotation queue item not found');
    }
    const message = 'Annotation queue item deleted successfully';
    return respond(200, { success: true as const, message });
  }),

  endpoint(api.assignQueue, async ({ params, body }, { caller: { projectId } }) => {
    const queue = await getQueue(db, projectId, params.queueId);
    return respond(200, await assign(db, queue, body.userId));
  }),

  endpoint(api.unassignQueue, async ({ params, body }, { caller: { projectId } }) => {
    const queue = await getQueue(db, projectId, params.queueId);
    await unassignQueue(db, queue.key, cleanText(body.userId));
    return respond(200, { success: true as const });
  }),
];
