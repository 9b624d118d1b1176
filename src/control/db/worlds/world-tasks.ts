/** Stored tasks and their versions. A version of a task never changes once it is written. */
import { limits } from '#domain/limits.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';

/** Stored task with its current version. Its labels are not read, because they are only used to filter lists. */
export type StoredTask = {
  id: string;
  projectId: string;
  worldId: string;
  /** Slug of the task's world. */
  slug: string;
  /** True if the task's world was deleted. */
  worldIsGone: boolean;
  /** Version of the world to which the task is pinned; null if it is not pinned. */
  pin: { versionId: string; number: number } | null;
  name: string | null;
  version: number;
  contentHash: string;
  createdAt: Date;
  updatedAt: Date;
  requestHash: string | null;
};

/** Summary of one version of a task. */
export type TaskVersion = {
  version: number;
  contentHash: string;
  message: string | null;
  author: string | null;
  createdAt: Date;
};

/** Labels by which lists of tasks are filtered, as keys with values. */
export type TaskLabels = Readonly<Record<string, string>>;

/** Encodes each label as one JSON text, so that its key and value cannot be confused. */
const writeLabels = (labels: TaskLabels): string[] =>
  Object.entries(labels).map((pair) => JSON.stringify(pair));

/** Content of a version of a task. */
export type NewSpec = {
  specJson: string;
  contentHash: string;
  labels: TaskLabels;
  message: string | null;
  author: string;
};

export type NewTask = NewSpec & {
  id: string;
  projectId: string;
  worldId: string;
  versionId: string | null;
  name: string | null;
  idempotencyKey: string | null;
  requestHash: string | null;
};

/** Unique index that a second task with the same `Idempotency-Key` violates. */
export const taskKeyIndex = 'world_tasks_idempotency';

const columns = `t.id, t.project_id as "projectId", t.world_id as "worldId", coalesce(w.former_slug, w.slug) as slug,
  w.deleted_at is not null as "worldIsGone",
  case when t.version_id is not null
       then json_build_object('versionId', t.version_id, 'number', p.number) end as pin,
  t.name, t.version, tv.content_hash as "contentHash", t.created_at as "createdAt",
  t.updated_at as "updatedAt", t.request_hash as "requestHash"`;

const joined = `world_tasks t
  join world_task_versions tv on tv.task_id = t.id and tv.version = t.version
  join worlds w on w.id = t.world_id
  left join versions p on p.id = t.version_id`;

// The count covers only the tasks of one project, so only that project's own requests wait for it.
const insertTaskStatement = statement(
  'insert_world_task',
  `with room as materialized (
     select (select count(*) from world_tasks where project_id = :projectId) < :most as is_there
   ), task as (
     insert into world_tasks (id, project_id, world_id, version_id, name, version, labels,
                              idempotency_key, request_hash)
     select :id, :projectId, :worldId, :versionId, :name, 1, :labels::text[], :idempotencyKey, :requestHash
       from room where is_there
     returning id
   )
   insert into world_task_versions (task_id, version, spec, content_hash, message, author)
   select id, 1, :specJson::json, :contentHash, :message, :author from task
   returning task_id`,
);

/** Inserts a task as version 1. Returns false if the project has the maximum number of tasks. */
export const insertTask = async (db: Queryable, task: NewTask): Promise<boolean> => {
  const labels = writeLabels(task.labels);
  const values = { ...task, labels, most: limits.storedTasks };
  return (await db.query(insertTaskStatement, values)).length > 0;
};

const findTaskStatement = statement(
  'find_world_task',
  `select ${columns} from ${joined} where t.id = $1 and t.project_id = $2`,
);

/** Returns the task with this id in the project; undefined if there is none. */
export const findTask = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<StoredTask | undefined> =>
  (await db.query<StoredTask>(findTaskStatement, [id, projectId]))[0];

const findByKeyStatement = statement(
  'find_world_task_by_key',
  `select ${columns} from ${joined} where t.project_id = $1 and t.idempotency_key = $2`,
);

/** Returns the task that the first request with this `Idempotency-Key` stored; undefined if there is none. */
export const findTaskByKey = async (
  db: Queryable,
  projectId: string,
  key: string,
): Promise<StoredTask | undefined> =>
  (await db.query<StoredTask>(findByKeyStatement, [projectId, key]))[0];

const findSpecStatement = statement(
  'find_world_task_spec',
  `select v.spec::text as "specJson", v.content_hash as "contentHash", v.version
     from world_task_versions v where v.task_id = $1 and v.version = $2`,
);

export type FoundSpec = { specJson: string; contentHash: string; version: number };

/** Returns the spec of one version of a task; undefined if there is none. */
export const findSpec = async (
  db: Queryable,
  taskId: string,
  version: number,
): Promise<FoundSpec | undefined> =>
  (await db.query<FoundSpec>(findSpecStatement, [taskId, version]))[0];

const historyStatement = statement(
  'list_world_task_versions',
  `select version, content_hash as "contentHash", message, author, created_at as "createdAt"
     from world_task_versions where task_id = $1 order by version desc`,
);

/** Lists the versions of a task, newest first; there are at most `limits.taskVersions`. */
export const listTaskVersions = (db: Queryable, taskId: string): Promise<TaskVersion[]> =>
  db.query<TaskVersion>(historyStatement, [taskId]);

/** Filter of a list: only tasks of the world (if `worldId` is not null), and only tasks that have all given labels. */
export type TaskFilter = { worldId: string | null; labels: TaskLabels };

const matching = `t.project_id = :projectId and (:worldId::text is null or t.world_id = :worldId)
  and t.labels @> :labels::text[]`;

const listStatement = statement(
  'list_world_tasks',
  `select ${columns} from ${joined} where ${matching}
    order by t.created_at desc, t.id desc limit :limit offset :offset`,
);

const countStatement = statement(
  'count_world_tasks',
  `select count(*)::int as total from world_tasks t where ${matching}`,
);

/** Lists a page of the project's tasks, newest first, and counts the matching tasks. */
export const listTasks = async (
  db: Queryable,
  projectId: string,
  { worldId, labels }: TaskFilter,
  page: { limit: number; offset: number },
): Promise<{ rows: StoredTask[]; total: number }> => {
  const values = { projectId, worldId, labels: writeLabels(labels) };
  const [rows, [count]] = await Promise.all([
    db.query<StoredTask>(listStatement, { ...values, ...page }),
    db.query<{ total: number }>(countStatement, values),
  ]);
  return { rows, total: count?.total ?? 0 };
};

/** Changes to a task. Members that are undefined stay unchanged. */
export type TaskChange = {
  name?: string | null | undefined;
  world?: { worldId: string; versionId: string | null } | undefined;
  spec?: NewSpec | undefined;
};

const lockStatement = statement(
  'lock_world_task',
  'select version from world_tasks where id = $1 and project_id = $2 for update',
);

const changeStatement = statement(
  'change_world_task',
  `update world_tasks
      set name = :name, world_id = :worldId, version_id = :versionId, version = :version,
          labels = coalesce(:labels::text[], labels), updated_at = now()
    where id = :id`,
);

const insertVersionStatement = statement(
  'insert_world_task_version',
  `insert into world_task_versions (task_id, version, spec, content_hash, message, author)
   values (:id, :version, :specJson::json, :contentHash, :message, :author)`,
);

export type TaskChanged = 'changed' | 'gone' | 'full';

/**
 * Changes a task. If the spec differs from the current one, it becomes the next version. If nothing differs, nothing is
 * written.
 */
export const changeTask = (
  db: Database,
  projectId: string,
  id: string,
  { name, world, spec }: TaskChange,
): Promise<TaskChanged> =>
  db.transaction(async (tx) => {
    if ((await tx.query(lockStatement, [id, projectId])).length === 0) return 'gone';
    const task = await findTask(tx, projectId, id);
    if (task === undefined) return 'gone';
    const next = spec !== undefined && spec.contentHash !== task.contentHash ? spec : undefined;
    if (next !== undefined && task.version >= limits.taskVersions) return 'full';
    const version = next === undefined ? task.version : task.version + 1;
    const isSame = next === undefined && name === undefined && world === undefined;
    if (isSame) return 'changed';
    await tx.query(changeStatement, {
      id,
      name: name === undefined ? task.name : name,
      worldId: world?.worldId ?? task.worldId,
      versionId: world === undefined ? (task.pin?.versionId ?? null) : world.versionId,
      version,
      labels: next === undefined ? null : writeLabels(next.labels),
    });
    if (next !== undefined) await tx.query(insertVersionStatement, { ...next, id, version });
    return 'changed';
  });

const deleteStatement = statement(
  'delete_world_task',
  'delete from world_tasks where id = $1 and project_id = $2 returning id',
);

/** Deletes a task with all its versions. Returns false if the project has no task with this id. */
export const deleteTask = async (db: Queryable, projectId: string, id: string): Promise<boolean> =>
  (await db.query(deleteStatement, [id, projectId])).length > 0;

const sessionTaskStatement = statement(
  'find_opened_task',
  `select task::text as "specJson", task_form as form, task_name as name, task_hash as "contentHash",
          world_id as "worldId", version_id as "versionId"
     from sessions where id = $1 and project_id = $2`,
);

/** Task that a session was opened with. Its members are null if the session was opened without a task. */
export type SessionTaskRow = {
  specJson: string | null;
  form: string | null;
  name: string | null;
  contentHash: string | null;
  worldId: string;
  versionId: string;
};

/** Returns the task of a session in the project; undefined if there is none. */
export const findSessionTask = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
): Promise<SessionTaskRow | undefined> =>
  (await db.query<SessionTaskRow>(sessionTaskStatement, [sessionId, projectId]))[0];
