/** Endpoints of stored tasks and sets of tasks. */
import * as api from '#wire/public-api/operations.ts';
import type { TaskValidation } from '#wire/public-api/worlds/task.ts';
import { listTasks } from '../../../db/worlds/world-tasks.ts';
import type { Parts } from '../../../parts.ts';
import { saveSessionTask } from '../../../worlds/tasks/session.ts';
import { createTaskSet, deleteSet, readTaskSet, readTaskSets } from '../../../worlds/tasks/sets.ts';
import { createTask, removeTask, updateTask } from '../../../worlds/tasks/stored.ts';
import { validateTask } from '../../../worlds/tasks/validate.ts';
import { viewTask, viewTaskDetail } from '../../../worlds/tasks/view.ts';
import { getWorld } from '../../../worlds/versions/address.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { toMeta, toRange } from '../../server/paging.ts';

const metadataPrefix = 'metadata.';

/**
 * Returns the labels that a query filters by, given as `metadata.<key>=<value>`; undefined if the query gives one key
 * two values.
 */
const labelsIn = (query: object): Record<string, string> | undefined => {
  const asked = Object.entries(query).filter(([name]) => name.startsWith(metadataPrefix));
  const pairs = asked.map(([name, value]): [string, string[]] => [
    name.slice(metadataPrefix.length),
    [...new Set([value].flat().map(String))],
  ]);
  if (pairs.some(([, values]) => values.length > 1)) return undefined;
  return Object.fromEntries(pairs.map(([key, [value = '']]) => [key, value]));
};

/**
 * Removes details of the problems that were found in solutions. These details reveal parts of a solution, and an agent
 * may have a public key, with which it could read them.
 */
const withoutSolutions = ({ problems, ...found }: TaskValidation): TaskValidation => ({
  ...found,
  problems: problems.map(({ path, message }) => {
    const [part = ''] = path;
    const isOfSolution = part === 'solution' || part === 'alternatives';
    const hint = 'is not valid; send the request with the secret key to see why';
    return isOfSolution ? { path: [part], message: hint } : { path, message };
  }),
});

const setEndpointsOf = ({ db }: Parts): Endpoint[] => [
  endpoint(api.createTaskSet, async ({ body }, { caller: { projectId } }) =>
    respond(201, await createTaskSet(db, projectId, body)),
  ),

  endpoint(api.listTaskSets, async ({ query }, { caller: { projectId } }) =>
    respond(200, await readTaskSets(db, projectId, query)),
  ),

  endpoint(api.getTaskSet, async ({ params }, { caller: { projectId } }) =>
    respond(200, await readTaskSet(db, projectId, params.taskSetId)),
  ),

  endpoint(api.deleteTaskSet, async ({ params }, { caller: { projectId } }) => {
    await deleteSet(db, projectId, params.taskSetId);
    return respond(200, { deleted: params.taskSetId });
  }),
];

export const taskEndpoints = (parts: Parts): Endpoint[] => [
  ...setEndpointsOf(parts),

  endpoint(api.listTasks, async ({ query }, { caller: { projectId } }) => {
    const { world } = query;
    const worldId = world === undefined ? null : (await getWorld(parts, projectId, world)).id;
    const labels = labelsIn(query);
    // No task has two values under one key.
    if (labels === undefined) return respond(200, { data: [], meta: toMeta(query, 0) });
    const range = toRange(query);
    const { rows, total } = await listTasks(parts.db, projectId, { worldId, labels }, range);
    return respond(200, { data: rows.map(viewTask), meta: toMeta(query, total) });
  }),

  endpoint(api.createTask, async ({ body, headers }, { caller }) => {
    const stored = await createTask(parts, caller, body, headers['idempotency-key']);
    const view = await viewTaskDetail(parts, caller, stored.id);
    return respond(stored.isNew ? 201 : 200, view);
  }),

  endpoint(api.getTask, async ({ params, query }, { caller }) =>
    respond(200, await viewTaskDetail(parts, caller, params.taskId, query.version)),
  ),

  endpoint(api.updateTask, async ({ params: { taskId }, body }, { caller }) => {
    await updateTask(parts, caller, taskId, body);
    return respond(200, await viewTaskDetail(parts, caller, taskId));
  }),

  endpoint(api.deleteTask, async ({ params: { taskId } }, { caller: { projectId } }) => {
    await removeTask(parts, projectId, taskId);
    return respond(200, { id: taskId });
  }),

  endpoint(api.validateTask, async ({ params, body = {} }, { caller, signal }) => {
    const { projectId, level } = caller;
    const found = await validateTask(parts, { ...params, projectId }, body, signal);
    return respond(200, level === 'secret' ? found : withoutSolutions(found));
  }),

  endpoint(api.saveSessionTask, async ({ params, headers, body = {} }, { caller }) => {
    const request = { ...params, ...body, idempotencyKey: headers['idempotency-key'] };
    const stored = await saveSessionTask(parts, caller, request);
    const view = await viewTaskDetail(parts, caller, stored.id);
    return respond(stored.isNew ? 201 : 200, view);
  }),
];
