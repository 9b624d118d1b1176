/** Task sets: lists of stored tasks that are shown together. */
import { dashboardLimits } from '#domain/dashboard.ts';
import { type Queryable, statement } from '../core/database.ts';
import { type Condition, listPage } from '../core/where.ts';

export type TaskSetRow = {
  id: string;
  projectId: string;
  name: string;
  description: string | null;
  /** Ids of the tasks, in order. Deleted tasks are left out. */
  taskIds: string[];
  createdAt: Date;
};

const columns = `s.id, s.project_id as "projectId", s.name, s.description, s.created_at as "createdAt",
  array(select t.task_id from task_set_tasks t where t.task_set_id = s.id order by t.position) as "taskIds"`;

const findStatement = statement(
  'find_task_set',
  `select ${columns} from task_sets s where s.project_id = $1 and s.id = $2`,
);

/** Returns the task set with this id; undefined if there is none. */
export const findTaskSet = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<TaskSetRow | undefined> =>
  (await db.query<TaskSetRow>(findStatement, [projectId, id]))[0];

const knownStatement = statement(
  'find_tasks_of_set',
  'select id from world_tasks where project_id = $1 and id = any($2::text[])',
);

/** Returns those of the given stored tasks that the project has. */
export const findKnownTasks = async (
  db: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<Set<string>> =>
  new Set((await db.query<{ id: string }>(knownStatement, [projectId, ids])).map(({ id }) => id));

const insertStatement = statement(
  'insert_task_set',
  `with made as (
     insert into task_sets (id, key, project_id, name, description)
     select :id, :key, :projectId, :name, :description
      where (select count(*) from task_sets where project_id = :projectId) < ${dashboardLimits.taskSets}
     on conflict on constraint task_sets_name do nothing
     returning id
   ), known as (
     select t.id, asked.position
       from unnest(:taskIds::text[]) with ordinality asked (id, position)
       join world_tasks t on t.id = asked.id and t.project_id = :projectId
   ), placed as (
     insert into task_set_tasks (task_set_id, task_id, position)
     select made.id, known.id, known.position from made, known
   )
   select id from made`,
);

export type NewTaskSet = Omit<TaskSetRow, 'createdAt'> & { key: string };

/** Inserts a set. Returns false if its name is taken, or the project has the maximum number of sets. */
export const insertTaskSet = async (db: Queryable, set: NewTaskSet): Promise<boolean> =>
  (await db.query(insertStatement, set)).length > 0;

const deleteStatement = statement(
  'delete_task_set',
  `delete from task_sets s where project_id = $1 and id = $2
      and not exists (select from dashboards d where d.task_set_id = s.id)
   returning id`,
);

/** Deletes a set. Returns false if it does not exist, or dashboards refer to it. The tasks in the set stay. */
export const deleteTaskSet = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<boolean> => (await db.query(deleteStatement, [projectId, id])).length > 0;

const ofSetStatement = statement(
  'list_dashboards_of_set',
  'select id from dashboards where project_id = $1 and task_set_id = $2 order by created_at, id limit 20',
);

/** Returns up to 20 dashboards that show a set. */
export const listDashboardsOfSet = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<string[]> =>
  (await db.query<{ id: string }>(ofSetStatement, [projectId, id])).map((row) => row.id);

const hasNameStatement = statement(
  'has_task_set_name',
  'select id from task_sets where project_id = $1 and name = $2',
);

/** Returns the id of the set with this name; undefined if there is none. */
export const findTaskSetByName = async (
  db: Queryable,
  projectId: string,
  name: string,
): Promise<string | undefined> =>
  (await db.query<{ id: string }>(hasNameStatement, [projectId, name]))[0]?.id;

/** Lists a page of the project's sets, newest first. Conditions refer to the set as `s`. */
export const listTaskSets = (
  db: Queryable,
  conditions: readonly Condition[],
  page: { limit: number; offset: number },
): Promise<TaskSetRow[]> =>
  listPage<TaskSetRow>(
    db,
    {
      name: 'list_task_sets',
      columns,
      from: 'task_sets s',
      order: 's.created_at desc, s.key desc',
    },
    conditions,
    page,
  );

const countStatement = statement(
  'count_task_sets',
  'select count(*)::int as total from task_sets where project_id = $1',
);

/** Counts the task sets of the project. */
export const countTaskSets = async (db: Queryable, projectId: string): Promise<number> =>
  (await db.query<{ total: number }>(countStatement, [projectId]))[0]?.total ?? 0;
