/** Annotation queues: creates and fills them, updates their items, and assigns members to them. */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { cleanText } from '#observability/read-value.ts';
import type { QueueItemView, QueueView } from '#wire/public-api/evaluation/annotation.ts';
import type { Database, Queryable } from '../db/core/database.ts';
import { violates } from '../db/core/errors.ts';
import type { Condition } from '../db/core/where.ts';
import {
  addQueueItem,
  assignQueue,
  countQueueItems,
  countQueues,
  findQueue,
  findQueueItem,
  insertQueue,
  listQueueItems,
  listQueues,
  mostQueues,
  type QueueItemRow,
  type QueueRow,
  queueName,
  updateQueueItem,
} from '../db/evaluation/annotation-queues.ts';
import { findConfigs } from '../db/observability/score-configs.ts';
import { dashless, keyOf } from '../db/observability/trace-keys.ts';
import { oneOf } from '../platform/lists/conditions.ts';
import { openNumberedPage, walkedItems } from '../platform/lists/numbered.ts';
import { invalidParameter, type RawQuery } from '../platform/lists/query.ts';

const viewQueue = ({ key: _, createdAt, updatedAt, ...queue }: QueueRow): QueueView => ({
  ...queue,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

const viewItem = (item: QueueItemRow, queueId: string): QueueItemView => ({
  id: item.id,
  queueId,
  objectId: item.objectId,
  objectType: item.objectType,
  status: item.status,
  completedAt: item.completedAt?.toISOString() ?? null,
  createdAt: item.createdAt.toISOString(),
  updatedAt: item.updatedAt.toISOString(),
});

const noItem = (): AppError => new AppError('not_found', 'Annotation queue item not found');

const placeOf = ({ createdAt, id }: { createdAt: Date; id: string }) => [createdAt, id] as const;

const mostNameChars = 500;

const readName = (given: string): string => {
  const name = cleanText(given).trim();
  if (name !== '' && name.length <= mostNameChars) return name;
  throw invalidParameter('name', `must have 1 to ${mostNameChars} characters`);
};

type GivenQueue = { name: string; description?: string; scoreConfigIds: string[] };

const checkConfigs = async (
  db: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<string[]> => {
  const asked = [...new Set(ids.map(cleanText))];
  const known = await findConfigs(db, projectId, asked);
  const lacking = asked.filter((id) => !known.has(id));
  if (lacking.length === 0) return asked;
  const named = lacking.slice(0, 10).join(', ');
  throw invalidParameter('scoreConfigIds', `names score configs that do not exist: ${named}`);
};

/**
 * Creates a queue. Throws `invalid` for bad content or if another queue has the name, and `exhausted` if the project
 * has too many queues.
 */
export const createQueue = async (db: Database, projectId: string, given: GivenQueue) => {
  const name = readName(given.name);
  const scoreConfigIds = await checkConfigs(db, projectId, given.scoreConfigIds);
  const description = given.description === undefined ? null : cleanText(given.description);
  const id = newId('anq');
  try {
    const queue = { key: keyOf(projectId, id), projectId, id, name, description, scoreConfigIds };
    const made = await insertQueue(db, queue);
    if (made !== undefined) return viewQueue(made);
  } catch (error) {
    if (!violates(error, queueName)) throw error;
    throw invalidParameter('name', `another queue of the project has the name "${name}"`);
  }
  const message = `the project has ${mostQueues} annotation queues, the maximum`;
  throw new AppError('exhausted', message, { detail: { limit: mostQueues } });
};

/** Returns the queue with this id; throws `not_found`. */
export const getQueue = async (db: Queryable, projectId: string, id: string): Promise<QueueRow> => {
  const queue = await findQueue(db, keyOf(projectId, id));
  if (queue === undefined) throw new AppError('not_found', 'Annotation queue not found');
  return queue;
};

export const readQueue = async (db: Queryable, projectId: string, id: string) =>
  viewQueue(await getQueue(db, projectId, id));

/** Returns a page of the project's queues. */
export const readQueues = async (db: Database, projectId: string, query: RawQuery) => {
  const page = openNumberedPage(query, projectId, { time: 'q.created_at', key: 'q.key' });
  const ofProject: Condition = (bind) => `q.project_id = ${bind(projectId)}`;
  const [rows, count] = await Promise.all([
    listQueues(db, [ofProject, ...page.conditions], page.range),
    countQueues(db, [ofProject]),
  ]);
  const { shown, meta } = page.show(rows, count, placeOf);
  return { data: shown.map(viewQueue), meta };
};

type GivenItem = {
  objectId: string;
  objectType: QueueItemRow['objectType'];
  status?: QueueItemRow['status'];
};

/**
 * Adds an object to a queue with the given status. If the queue already has the object, returns the object's item, and
 * updates its status if one is given.
 */
export const addItem = async (
  db: Queryable,
  queue: QueueRow,
  { objectId: given, objectType, status }: GivenItem,
) => {
  const { projectId } = queue;
  const id = newId('ani');
  const objectId = cleanText(given);
  const item = await addQueueItem(db, {
    ...{ key: keyOf(projectId, id), projectId, id, queueKey: queue.key },
    ...{ objectType, objectKey: keyOf(projectId, objectId), objectId, status: status ?? null },
  });
  return viewItem(item, queue.id);
};

const states = ['PENDING', 'COMPLETED'];

/** Returns a page of a queue's items. */
export const readQueueItems = async (db: Database, queue: QueueRow, query: RawQuery) => {
  const page = openNumberedPage(query, queue.projectId, { time: 'i.created_at', key: 'i.key' });
  const ofQueue: Condition = (bind) => `i.queue_key = ${bind(dashless(queue.key))}::uuid`;
  const ofStatus = oneOf(query, 'status', states, 'i.status');
  const conditions = [ofQueue, ...(ofStatus === undefined ? [] : [ofStatus])];
  const [rows, count] = await Promise.all([
    listQueueItems(db, [...conditions, ...page.conditions], page.range),
    countQueueItems(db, conditions, walkedItems),
  ]);
  const { shown, meta } = page.show(rows, count, placeOf);
  return { data: shown.map((item) => viewItem(item, queue.id)), meta };
};

/** Returns an item of a queue; throws `not_found`. */
export const readQueueItem = async (db: Queryable, queue: QueueRow, id: string) => {
  const item = await findQueueItem(db, keyOf(queue.projectId, id), queue.key);
  if (item === undefined) throw noItem();
  return viewItem(item, queue.id);
};

/** Sets the status of an item, or returns the item unchanged if no status is given. Throws `not_found`. */
export const changeQueueItem = async (
  db: Queryable,
  queue: QueueRow,
  id: string,
  { status }: { status?: QueueItemRow['status'] },
) => {
  if (status === undefined) return readQueueItem(db, queue, id);
  const key = keyOf(queue.projectId, id);
  const item = await updateQueueItem(db, { key, queueKey: queue.key, status });
  if (item === undefined) throw noItem();
  return viewItem(item, queue.id);
};

/** Assigns a member of the project to a queue. Throws `not_found` for users who are not members. */
export const assign = async (db: Queryable, queue: QueueRow, userId: string) => {
  const { projectId, key: queueKey, id: queueId } = queue;
  const isAssigned = await assignQueue(db, { projectId, queueKey, userId: cleanText(userId) });
  if (isAssigned) return { userId, queueId, projectId };
  throw new AppError('not_found', 'no member of the project has this userId');
};
