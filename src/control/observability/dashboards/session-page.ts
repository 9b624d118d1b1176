/**
 * Page of one session, opened from a dashboard of tasks or of a world. It uses the starter code for sessions of this
 * release, and shows only sessions that the dashboard shows.
 */
import { AppError } from '#domain/error.ts';
import type { Queryable } from '../../db/core/database.ts';
import { showSessionsOfTasks, showSessionsOfWorld } from '../../db/observability/dashboard-data.ts';
import { noSession } from '../../db/sessions/sessions.ts';
import { getTaskSet } from '../../worlds/tasks/sets.ts';
import type { BuiltCode } from '../dashboard-code/build.ts';
import type { ObservabilityParts } from '../parts.ts';
import { starterOf } from './starters.ts';
import type { Caller, Dashboard } from './stored.ts';

/**
 * Build of the starter code, by the process pools that built it. The code is built once, because it does not change
 * while the program runs.
 */
const builtBy = new WeakMap<ObservabilityParts['dashboards'], Promise<BuiltCode>>();

const build = async (
  { dashboards }: ObservabilityParts,
  { projectId, signal }: Caller,
): Promise<BuiltCode> => {
  const outcome = await dashboards.build(starterOf('session', 'starter'), {
    project: projectId,
    signal,
  });
  if (outcome.ok) return outcome.built;
  throw new Error(`the starter code for sessions does not build: ${outcome.problems[0]?.message}`);
};

const builtStarter = (parts: ObservabilityParts, caller: Caller): Promise<BuiltCode> => {
  const known = builtBy.get(parts.dashboards);
  if (known !== undefined) return known;
  const building = build(parts, caller);
  builtBy.set(parts.dashboards, building);
  // A failed build (aborted request, full queue) is repeated by the next request.
  building.catch(() => builtBy.delete(parts.dashboards));
  return building;
};

/** Returns the dashboard as a dashboard of sessions that has the starter code. */
export const asSessionDashboard = async (
  parts: ObservabilityParts,
  caller: Caller,
  dashboard: Dashboard,
): Promise<Dashboard> => ({
  ...dashboard,
  taskSetId: null,
  worldId: null,
  builtJson: JSON.stringify(await builtStarter(parts, caller)),
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

/** Throws `not_found` if the dashboard does not show the session. */
export const checkShown = async (
  db: Queryable,
  projectId: string,
  dashboard: Dashboard,
  sessionId: unknown,
): Promise<string> => {
  if (typeof sessionId !== 'string') {
    throw new AppError('invalid', 'add the session to the address: ?session=ses-…');
  }
  const sessions = await shownSessions(db, projectId, dashboard);
  if (sessions.some(({ id }) => id === sessionId)) return sessionId;
  throw noSession(sessionId);
};
