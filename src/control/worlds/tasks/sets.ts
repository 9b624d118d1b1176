/** Task sets: created from stored tasks of the project, listed, read and deleted. */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { cleanText } from '#observability/read-value.ts';
import type { TaskSetBody, TaskSetView } from '#wire/public-api/worlds/task-set.ts';
import type { Queryable } from '../../db/core/database.ts';
import { keyOf } from '../../db/observability/trace-keys.ts';
import {
  countTaskSets,
  deleteTaskSet,
  findKnownTasks,
  findTaskSet,
  findTaskSetByName,
  insertTaskSet,
  listDashboardsOfSet,
  listTaskSets,
  type TaskSetRow,
} from '../../db/worlds/task-sets.ts';
import { readName } from '../../platform/lists/names.ts';
import { openNumberedPage } from '../../platform/lists/numbered.ts';
import type { RawQuery } from '../../platform/lists/query.ts';

const view = ({ projectId: _, createdAt, ...set }: TaskSetRow): TaskSetView => ({
  ...set,
  createdAt: createdAt.toISOString(),
});

/** Returns the task set with this id. Throws `not_found` if the project has none. */
export const getTaskSet = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<TaskSetRow> => {
  const set = await findTaskSet(db, projectId, id);
  if (set !== undefined) return set;
  throw new AppError('not_found', `there is no task set "${id}"; "svc task-sets list" shows them`);
};

/**
 * Deletes a set; the tasks in it stay. Throws `not_found` if there is no such set, and `conflict` while dashboards use
 * it.
 */
export const deleteSet = async (db: Queryable, projectId: string, id: string): Promise<void> => {
  if (await deleteTaskSet(db, projectId, id)) return;
  const dashboardIds = await listDashboardsOfSet(db, projectId, id);
  if (dashboardIds.length > 0) {
    const message = `there are dashboards of "${id}": delete ${dashboardIds.join(', ')} first`;
    throw new AppError('conflict', message, { detail: { dashboardIds } });
  }
  await getTaskSet(db, projectId, id);
};

/** Throws `invalid` if a task is named twice, or the project does not have it. */
const checkTasks = async (
  db: Queryable,
  projectId: string,
  taskIds: readonly string[],
): Promise<void> => {
  const known = await findKnownTasks(db, projectId, taskIds);
  const fields = taskIds.flatMap((id, at) => {
    const path = ['taskIds', String(at)];
    if (!known.has(id)) return [{ path, message: `the project has no stored task "${id}"` }];
    return taskIds.indexOf(id) === at ? [] : [{ path, message: `the list has "${id}" twice` }];
  });
  const [first] = fields;
  if (first === undefined) return;
  const message = `invalid request: ${first.path.join('.')} ${first.message}`;
  throw new AppError('invalid', message, { fields: fields.slice(0, 50) });
};

/**
 * Creates a set. Throws `invalid` if a task does not exist, `conflict` if the name is taken, and `exhausted` if the
 * project has the maximum number of sets.
 */
export const createTaskSet = async (
  db: Queryable,
  projectId: string,
  { name: givenName, description, taskIds }: TaskSetBody,
): Promise<TaskSetView> => {
  const name = readName('name', givenName);
  await checkTasks(db, projectId, taskIds);
  const id = newId('tset');
  const given = description === undefined ? null : cleanText(description);
  const set = { id, key: keyOf(projectId, id), projectId, name, description: given, taskIds };
  if (await insertTaskSet(db, set)) return view(await getTaskSet(db, projectId, id));
  const taken = await findTaskSetByName(db, projectId, name);
  if (taken !== undefined) {
    const message = `a task set "${name}" already exists: ${taken}`;
    throw new AppError('conflict', message, { detail: { taskSetId: taken } });
  }
  throw new AppError(
    'exhausted',
    'the project has the maximum number of task sets: delete one first',
  );
};

/** Returns a page of task sets, newest first. */
export const readTaskSets = async (db: Queryable, projectId: string, query: RawQuery) => {
  const page = openNumberedPage(query, projectId, { time: 's.created_at', key: 's.key' });
  const ofProject = (bind: (value: unknown) => string) => `s.project_id = ${bind(projectId)}`;
  const [rows, total] = await Promise.all([
    listTaskSets(db, [ofProject, ...page.conditions], page.range),
    countTaskSets(db, projectId),
  ]);
  const place = ({ createdAt, id }: TaskSetRow) => [createdAt, id] as const;
  const { shown, meta } = page.show(rows, { total, isLowerBound: false }, place);
  return { data: shown.map(view), meta };
};

/** Returns one task set. */
export const readTaskSet = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<TaskSetView> => view(await getTaskSet(db, projectId, id));
