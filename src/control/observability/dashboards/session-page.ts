/**
 * The page of one session that a dashboard of tasks or of a world leads to: the starter of sessions, as this release ships
 * it, over the session that was chosen. Only sessions that the dashboard itself shows are.
 */
import { AppError } from '#domain/error.ts';
import type { Queryable } from '../../db/core/database.ts';
import { showSessionsOfTasks, showSessionsOfWorld } from '../../db/observability/dashboard-data.ts';
import { noSession } from '../../db/sessions/sessions.ts';
import { getTaskSet } from '../../worlds/tasks/sets.ts';
import type { BuiltCode } from '../dashboard-code/build.ts';
import type { ObservabilityParts } from '../parts.ts';
import { starterOf } from './starters.ts';
import type { Asker, Dashboard } from './stored.ts';

/** Built once for each program: the starter does not change while it runs. */
const builtBy = new WeakMap<ObservabilityParts['dashboards'], Promise<BuiltCode>>();

const build = async (
  { dashboards }: ObservabilityParts,
  { projectId, signal }: Asker,
): Promise<BuiltCode> => {
  const outcome = await dashboards.build(starterOf('session', 'starter'), {
    project: projectId,
    signal,
  });
  if (outcome.ok) return outcome.built;
  throw new Error(`the starter of sessions: ${outcome.problems[0]?.message}`);
};

const builtStarter = (parts: ObservabilityParts, asker: Asker): Promise<BuiltCode> => {
  const known = builtBy.get(parts.dashboards);
  if (known !== undefined) return known;
  const building = build(parts, asker);
  builtBy.set(parts.dashboards, building);
  // One that failed, because its request was given up or a queue was full, is built again.
  building.catch(() => builtBy.delete(parts.dashboards));
  return building;
};

/** Returns the dashboard as one of sessions, with the starter for its code. */
export const asSessionDashboard = async (
  parts: ObservabilityParts,
  asker: Asker,
  dashboard: Dashboard,
): Promise<Dashboard> => ({
  ...dashboard,
  taskSetId: null,
  worldId: null,
  builtJson: JSON.stringify(await builtStarter(parts, asker)),
});

const shownSessions = async (
  db: Queryable,
  projectId: string,
  { taskSetId, worldId }: Dashboard,
) => {
  if (worldId !== null) return showSessionsOfWorld(db, projectId, worldId);
  if (taskSetId === null) return [];
  const { taskIds } = await getTaskSet(db, projectId, taskSetId);
  return showSessionsOfTasks(db, projectId, taskIds);
};

/** Throws `not_found` for a session that the dashboard does not show. */
export const checkShown = async (
  db: Queryable,
  projectId: string,
  dashboard: Dashboard,
  sessionId: unknown,
): Promise<string> => {
  if (typeof sessionId !== 'string') {
    throw new AppError('invalid', 'name a session: ?session=ses-…');
  }
  const sessions = await shownSessions(db, projectId, dashboard);
  if (sessions.some(({ id }) => id === sessionId)) return sessionId;
  throw noSession(sessionId);
};
