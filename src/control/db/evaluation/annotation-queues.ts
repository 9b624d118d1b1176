/** Annotation queues: objects for people to review, and the people assigned to each queue. */
import { type Queryable, statement } from '../core/database.ts';
import type { Count } from '../core/lists.ts';
import { type Condition, countUpTo, listPage } from '../core/where.ts';

export type QueueRow = {
  key: string;
  projectId: string;
  id: string;
  name: string;
  description: string | null;
  scoreConfigIds: string[];
  createdAt: Date;
  updatedAt: Date;
};

const columns = `q.key, q.project_id as "projectId", q.id, q.name, q.description, q.score_config_ids as "scoreConfigIds",
  q.created_at as "createdAt", q.updated_at as "updatedAt"`;

/** Maximum number of queues of one project. */
export const mostQueues = 10_000;
/** Unique constraint on the names of the queues in a project. */
export const queueName = 'annotation_queues_name';

const insertStatement = statement(
  'insert_annotation_queue',
  `insert into annotation_queues as q (key, project_id, id, name, description, score_config_ids)
   select :key, :projectId, :id, :name, :description, :scoreConfigIds::text[]
    where (select count(*) from annotation_queues where project_id = :projectId) < ${mostQueues}
   returning ${columns}`,
);

/** Inserts a queue. Returns undefined if the project has the maximum number of queues. */
export const insertQueue = async (
  db: Queryable,
  queue: Omit<QueueRow, 'createdAt' | 'updatedAt'>,
): Promise<QueueRow | undefined> => (await db.query<QueueRow>(insertStatement, queue))[0];

const findStatement = statement(
  'find_annotation_queue',
  `select ${columns} from annotation_queues q where q.key = $1`,
);

export const findQueue = async (db: Queryable, key: string): Promise<QueueRow | undefined> =>
  (await db.query<QueueRow>(findStatement, [key]))[0];

/** Lists a page of queues, newest first. Conditions refer to the queue as `q`. */
export const listQueues = (
  db: Queryable,
  conditions: readonly Condition[],
  page: { limit: number; offset: number },
): Promise<QueueRow[]> =>
  listPage<QueueRow>(
    db,
    {
      name: 'list_annotation_queues',
      columns,
      from: 'annotation_queues q',
      order: 'q.created_at desc, q.key desc',
    },
    conditions,
    page,
  );

export const countQueues = (db: Queryable, conditions: readonly Condition[]): Promise<Count> =>
  countUpTo(db, 'count_annotation_queues', 'annotation_queues q', conditions);

export type QueueItemRow = {
  key: string;
  id: string;
  objectId: string;
  objectType: 'TRACE' | 'OBSERVATION' | 'SESSION';
  status: 'PENDING' | 'COMPLETED';
  completedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

const itemColumns = `i.key, i.id, i.object_id as "objectId", i.object_type as "objectType", i.status,
  i.completed_at as "completedAt", i.created_at as "createdAt", i.updated_at as "updatedAt"`;

/**
 * Builds the SQL for the completion time of an item. An item that was already completed keeps its time; one that
 * becomes completed gets the current time.
 */
const completedAs = (status: string): string =>
  `case when ${status} = 'COMPLETED' then coalesce(i.completed_at, date_trunc('milliseconds', now())) end`;

export type NewQueueItem = {
  key: string;
  projectId: string;
  id: string;
  queueKey: string;
  objectType: string;
  objectKey: string;
  objectId: string;
  /** Status to set; null if a new item is to be pending and an existing item keeps its status. */
  status: string | null;
};

const addStatement = statement(
  'add_annotation_queue_item',
  `insert into annotation_queue_items as i (key, project_id, id, queue_key, object_type, object_key, object_id, status,
                                            completed_at)
   values (:key, :projectId, :id, :queueKey, :objectType, :objectKey, :objectId, coalesce(:status::text, 'PENDING'),
           case when :status::text = 'COMPLETED' then date_trunc('milliseconds', now()) end)
   on conflict on constraint annotation_queue_items_object do update
      set status = coalesce(:status::text, i.status), completed_at = ${completedAs('coalesce(:status::text, i.status)')},
          updated_at = case when :status::text <> i.status then excluded.updated_at else i.updated_at end
   returning ${itemColumns}`,
);

/** Adds an object to a queue. If the queue already has an item for the object, updates and returns that item. */
export const addQueueItem = async (db: Queryable, item: NewQueueItem): Promise<QueueItemRow> => {
  const [row] = await db.query<QueueItemRow>(addStatement, item);
  if (row === undefined)
    throw new Error(`the database returned no row for the inserted queue item of ${item.objectId}`);
  return row;
};

const findItemStatement = statement(
  'find_annotation_queue_item',
  `select ${itemColumns} from annotation_queue_items i where i.key = $1 and i.queue_key = $2`,
);

export const findQueueItem = async (
  db: Queryable,
  key: string,
  queueKey: string,
): Promise<QueueItemRow | undefined> =>
  (await db.query<QueueItemRow>(findItemStatement, [key, queueKey]))[0];

const updateItemStatement = statement(
  'update_annotation_queue_item',
  `update annotation_queue_items i
      set status = :status, completed_at = ${completedAs(':status')},
          updated_at = date_trunc('milliseconds', now())
    where i.key = :key and i.queue_key = :queueKey returning ${itemColumns}`,
);

/** Sets the status of an item. Returns undefined if there is no item with this key. */
export const updateQueueItem = async (
  db: Queryable,
  item: { key: string; queueKey: string; status: string },
): Promise<QueueItemRow | undefined> =>
  (await db.query<QueueItemRow>(updateItemStatement, item))[0];

const removeItemStatement = statement(
  'remove_annotation_queue_item',
  'delete from annotation_queue_items where key = $1 and queue_key = $2 returning key',
);

/** Removes an item. Returns false if there is no item with this key. */
export const removeQueueItem = async (
  db: Queryable,
  key: string,
  queueKey: string,
): Promise<boolean> => (await db.query(removeItemStatement, [key, queueKey])).length > 0;

/** Lists a page of items, newest first. Conditions refer to the item as `i`. */
export const listQueueItems = (
  db: Queryable,
  conditions: readonly Condition[],
  page: { limit: number; offset: number },
): Promise<QueueItemRow[]> =>
  listPage<QueueItemRow>(
    db,
    {
      name: 'list_annotation_queue_items',
      columns: itemColumns,
      from: 'annotation_queue_items i',
      order: 'i.created_at desc, i.key desc',
    },
    conditions,
    page,
  );

export const countQueueItems = (
  db: Queryable,
  conditions: readonly Condition[],
  most: number,
): Promise<Count> =>
  countUpTo(db, 'count_annotation_queue_items', 'annotation_queue_items i', conditions, most);

// A role in the project overrides the role in the organization.
const assignStatement = statement(
  'assign_annotation_queue',
  `with member as (
     select m.organization_id, m.user_id from projects p
       join memberships m on m.organization_id = p.organization_id and m.user_id = :userId
       left join project_memberships o on o.project_id = p.id and o.user_id = m.user_id
      where p.id = :projectId
        and (m.role = 'OWNER' or coalesce(o.role, m.role) <> 'NONE')
   ), assigned as (
     insert into annotation_assignments (queue_key, organization_id, user_id)
     select :queueKey, organization_id, user_id from member on conflict do nothing
   )
   select user_id from member`,
);

/** Assigns a person to a queue. Returns false if the person is not a member with access to the project. */
export const assignQueue = async (
  db: Queryable,
  assignment: { projectId: string; queueKey: string; userId: string },
): Promise<boolean> => (await db.query(assignStatement, assignment)).length > 0;

const unassignStatement = statement(
  'unassign_annotation_queue',
  'delete from annotation_assignments where queue_key = $1 and user_id = $2',
);

export const unassignQueue = async (
  db: Queryable,
  queueKey: string,
  userId: string,
): Promise<void> => {
  await db.query(unassignStatement, [queueKey, userId]);
};
