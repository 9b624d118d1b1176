/** Reads the data of a dashboard: one session with everything done in it, or tasks with their sessions. */
import { dashboardLimits } from '#domain/dashboard.ts';
import { AppError } from '#domain/error.ts';
import type { RenderBody, RenderTarget } from '#wire/public-api/observability/dashboard.ts';
import { jsonText, writeJson } from '../../base/json/json-text.ts';
import type { Queryable } from '../../db/core/database.ts';
import {
  findNewestSession,
  mostShown,
  type ShownCall,
  type ShownRequest,
  type ShownSession,
  showCalls,
  showGrade,
  showRequests,
  showSession,
  showSessionsOfTasks,
  showSessionsOfWorld,
  showTasks,
} from '../../db/observability/dashboard-data.ts';
import { noSession } from '../../db/sessions/sessions.ts';
import { findWorldById } from '../../db/worlds/worlds.ts';
import { invalidParameter } from '../../platform/lists/query.ts';
import { getTaskSet } from '../../worlds/tasks/sets.ts';
import { kindOf } from './code.ts';
import type { Dashboard } from './stored.ts';

/** The object that is shown, and its data as JSON text. Without data, `missing` gives the reason. */
export type ShownData = { target: RenderTarget } & (
  | { dataJson: string; nowMs: number; title: string }
  | { missing: string }
);

const noTarget: RenderTarget = {
  sessionId: null,
  taskSetId: null,
  taskId: null,
  environmentId: null,
};

/**
 * Maximum size of a grade in the data, in bytes. A grade contains the changed rows, of which there may be very many.
 */
const mostGradeBytes = 1024 * 1024;

const viewCall = ({ changesJson, errorJson, ...call }: ShownCall) => ({
  ...call,
  changes: jsonText(changesJson),
  error: jsonText(errorJson),
});

const viewRequest = ({ changesJson, ...request }: ShownRequest) => ({
  ...request,
  changes: jsonText(changesJson),
});

const write = (value: object): string => writeJson(value).join('');

const sessionData = async (db: Queryable, projectId: string, id: string): Promise<ShownData> => {
  const session = await showSession(db, projectId, id);
  if (session === undefined) throw noSession(id);
  const [calls, requests, grade] = await Promise.all([
    showCalls(db, id),
    showRequests(db, id),
    showGrade(db, id, mostGradeBytes),
  ]);
  const now = new Date();
  const { verdict: _, score: __, calls: callCount, ...shown } = session;
  const given = {
    kind: 'session',
    at: now,
    session: { ...shown, callCount },
    grade: jsonText(grade ?? null),
    isGradeOmitted: grade === null,
    calls: calls.map(viewCall),
    requests: requests.map(viewRequest),
  };
  const target = { ...noTarget, sessionId: id };
  const title = session.task ?? session.world;
  const dataJson = write(given);
  if (Buffer.byteLength(dataJson) <= dashboardLimits.dataBytes) {
    return { target, dataJson, nowMs: now.getTime(), title };
  }
  const light = {
    ...given,
    calls: given.calls.map((call) => ({ ...call, changes: {} })),
    requests: given.requests.map((request) => ({ ...request, changes: {} })),
  };
  return { target, dataJson: write(light), nowMs: now.getTime(), title };
};

const sessionsData = (
  target: RenderTarget,
  title: string,
  found: readonly ShownSession[],
  about: object,
): ShownData => {
  const now = new Date();
  const given = {
    ...about,
    at: now,
    sessions: found.slice(0, mostShown.sessions),
    hasMoreSessions: found.length > mostShown.sessions,
  };
  return { target, dataJson: write(given), nowMs: now.getTime(), title };
};

const taskData = async (
  db: Queryable,
  projectId: string,
  taskSetId: string,
  taskId: string | undefined,
): Promise<ShownData> => {
  const set = await getTaskSet(db, projectId, taskSetId);
  if (taskId !== undefined && !set.taskIds.includes(taskId)) {
    throw new AppError('not_found', `the task set "${set.name}" has no task "${taskId}"`);
  }
  const ids = taskId === undefined ? set.taskIds : [taskId];
  const [tasks, sessions] = await Promise.all([
    showTasks(db, projectId, ids),
    showSessionsOfTasks(db, projectId, ids),
  ]);
  const target = { ...noTarget, taskSetId, taskId: taskId ?? null };
  const title = tasks.length === 1 ? (tasks[0]?.name ?? set.name) : set.name;
  return sessionsData(target, title, sessions, {
    kind: 'task',
    taskSet: { id: set.id, name: set.name, description: set.description },
    world: null,
    tasks: tasks.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id)),
  });
};

const worldData = async (db: Queryable, projectId: string, worldId: string): Promise<ShownData> => {
  const target = { ...noTarget, environmentId: worldId };
  const world = await findWorldById(db, projectId, worldId);
  if (world === undefined)
    return { target, missing: 'the world that the dashboard shows was deleted' };
  const sessions = await showSessionsOfWorld(db, projectId, worldId);
  return sessionsData(target, world.slug, sessions, {
    kind: 'environment',
    taskSet: null,
    world: { id: world.id, slug: world.slug, name: world.name },
    tasks: [],
  });
};

/** Names of the targets that a request may give, by kind of dashboard. */
const takes = {
  session: ['sessionId'],
  task: ['taskSetId', 'taskId'],
  environment: [],
} as const satisfies Record<string, readonly (keyof RenderBody)[]>;

const refuseOthers = (dashboard: Dashboard, asked: RenderBody): void => {
  const kind = kindOf(dashboard);
  const taken: readonly string[] = takes[kind];
  const other = (['sessionId', 'taskSetId', 'taskId'] as const).find(
    (name) => asked[name] !== undefined && !taken.includes(name),
  );
  if (other === undefined) return;
  throw invalidParameter(other, `names nothing that a dashboard of kind "${kind}" shows`);
};

/** Reads the data of a dashboard; throws `not_found` if the request names an object that does not exist. */
export const readData = async (
  db: Queryable,
  dashboard: Dashboard,
  asked: RenderBody,
): Promise<ShownData> => {
  refuseOthers(dashboard, asked);
  const { projectId, taskSetId, worldId } = dashboard;
  if (worldId !== null) return worldData(db, projectId, worldId);
  if (taskSetId !== null) {
    return taskData(db, projectId, asked.taskSetId ?? taskSetId, asked.taskId);
  }
  const sessionId = asked.sessionId ?? (await findNewestSession(db, projectId));
  if (sessionId !== undefined) return sessionData(db, projectId, sessionId);
  return { target: noTarget, missing: 'the project has no session yet: open one' };
};
