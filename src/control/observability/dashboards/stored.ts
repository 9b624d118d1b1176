/**
 * Creates, reads and updates stored dashboards. Pushed code is built before it is stored; if the build fails, all of
 * the pushed code is refused.
 */
import {
  type CodeProblem,
  type DashboardCode,
  dashboardLimits as most,
} from '#domain/dashboard.ts';
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { cleanText } from '#observability/read-value.ts';
import type {
  DashboardBody,
  DashboardCodeBody,
  DashboardDetail,
  DashboardPushed,
} from '#wire/public-api/observability/dashboard.ts';
import { hashOf } from '../../base/json/canonical.ts';
import { violates } from '../../db/core/errors.ts';
import {
  type CodeRow,
  type DashboardRow,
  dashboardKeyIndex,
  deleteDashboard,
  findDashboard,
  findDashboardByKey,
  insertDashboard,
  type NewDashboard,
  writeDashboardCode,
} from '../../db/observability/dashboards.ts';
import { readName } from '../../platform/lists/names.ts';
import { invalidParameter } from '../../platform/lists/query.ts';
import { getTaskSet } from '../../worlds/tasks/sets.ts';
import { getWorld } from '../../worlds/versions/address.ts';
import type { BuiltCode } from '../dashboard-code/build.ts';
import { problemOf } from '../dashboard-code/check.ts';
import type { ObservabilityParts } from '../parts.ts';
import { hasCode, kindOf, rowOf, settleCode, stampOf } from './code.ts';
import { starterOf } from './starters.ts';
import { viewDetail } from './view.ts';

export type Dashboard = DashboardRow & CodeRow;

/** Returns a dashboard; throws `not_found`. */
export const getDashboard = async (
  { db }: ObservabilityParts,
  projectId: string,
  id: string,
): Promise<Dashboard> => {
  const found = await findDashboard(db, projectId, id);
  if (found !== undefined) return found;
  throw new AppError('not_found', `there is no dashboard "${id}"; "svc dashboards ls" shows them`);
};

/** Deletes a dashboard with its code, but not the object that it shows. Throws `not_found`. */
export const dropDashboard = async (
  parts: ObservabilityParts,
  projectId: string,
  id: string,
): Promise<void> => {
  if (!(await deleteDashboard(parts.db, projectId, id))) await getDashboard(parts, projectId, id);
};

/** Project of a request, and the signal that aborts when its client disconnects. */
export type Caller = { projectId: string; signal: AbortSignal };

type Keyed = Pick<NewDashboard, 'projectId' | 'idempotencyKey' | 'requestHash'>;

const rejected = (problems: readonly CodeProblem[]): AppError => {
  const [first] = problems;
  const { path, line } = first ?? { path: null, line: null };
  const place = [path ?? 'the code', ...(line === null ? [] : [line])].join(':');
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new AppError('invalid', `the code was rejected: ${place}: ${first?.message}${more}`, {
    detail: {
      ...{ error: 'dashboard_code_rejected', problems: problems.slice(0, most.problems) },
      ...(problems.length > most.problems ? { problemCount: problems.length } : {}),
    },
  });
};

const nothing: BuiltCode = { script: null, transformScript: null };

/**
 * Returns a problem if a dashboard that does not show sessions has a transform, because a transform always runs on one
 * session.
 */
const kindProblems = (row: Pick<DashboardRow, 'taskSetId' | 'worldId'>, code: DashboardCode) => {
  if (code.transform === null || kindOf(row) === 'session') return [];
  const message = 'only dashboards of sessions have a transform: shape the data in the page';
  return [problemOf('transform', 'transform', message)];
};

/** Builds code; throws `invalid` with all its problems. */
const build = async (
  { dashboards }: ObservabilityParts,
  { projectId, signal }: Caller,
  row: Pick<DashboardRow, 'taskSetId' | 'worldId'>,
  code: DashboardCode,
): Promise<BuiltCode> => {
  const ofKind = kindProblems(row, code);
  if (!hasCode(code) && code.transform === null) return nothing;
  const outcome = await dashboards.build(code, { project: projectId, signal });
  const problems = [...ofKind, ...(outcome.ok ? [] : outcome.problems)];
  if (!hasCode(code)) {
    problems.push(
      problemOf(
        null,
        'count',
        'the code has no files, and a transform alone shows nothing: push files, too',
      ),
    );
  }
  if (!outcome.ok || problems.length > 0) throw rejected(problems);
  return outcome.built;
};

const readTarget = async (
  parts: ObservabilityParts,
  projectId: string,
  { taskSetId, environmentId }: DashboardBody,
): Promise<Pick<DashboardRow, 'taskSetId' | 'worldId'>> => {
  if (taskSetId !== undefined && environmentId !== undefined) {
    const message = 'a dashboard shows either a task set or a world: give only one of them';
    throw new AppError('invalid', message, { fields: [{ path: ['environmentId'], message }] });
  }
  if (taskSetId !== undefined) {
    return { taskSetId: (await getTaskSet(parts.db, projectId, taskSetId)).id, worldId: null };
  }
  if (environmentId === undefined) return { taskSetId: null, worldId: null };
  return { taskSetId: null, worldId: (await getWorld(parts, projectId, environmentId)).id };
};

/**
 * Returns the dashboard that an earlier request with the same `Idempotency-Key` created; throws `conflict` if that
 * request had another body.
 */
const findFirst = async (
  { db }: ObservabilityParts,
  { projectId, idempotencyKey, requestHash }: Keyed,
): Promise<string | undefined> => {
  if (idempotencyKey === null) return undefined;
  const first = await findDashboardByKey(db, projectId, idempotencyKey);
  if (first === undefined || first.requestHash === requestHash) return first?.id;
  throw new AppError(
    'conflict',
    `this Idempotency-Key was already used with another body, and created ${first.id}: send a new key`,
  );
};

/**
 * Stores a dashboard, unless an earlier request with the same `Idempotency-Key` did. Returns the id of the stored
 * dashboard.
 */
const store = async (parts: ObservabilityParts, made: NewDashboard): Promise<string> => {
  try {
    if (await insertDashboard(parts.db, made)) return made.id;
  } catch (error) {
    if (!violates(error, dashboardKeyIndex)) throw error;
    const winner = await findFirst(parts, made);
    if (winner === undefined) throw error;
    return winner;
  }
  const message = `the project has ${most.dashboards} dashboards, the maximum; delete some first`;
  throw new AppError('exhausted', message, { detail: { limit: most.dashboards } });
};

/**
 * Creates a dashboard with the code of a template. A repeated request with the same `Idempotency-Key` returns the
 * existing dashboard.
 */
export const createDashboard = async (
  parts: ObservabilityParts,
  caller: Caller,
  body: DashboardBody,
  idempotencyKey: string | null,
): Promise<{ dashboard: DashboardDetail; isNew: boolean }> => {
  const { projectId } = caller;
  const keyed = { projectId, idempotencyKey, requestHash: hashOf(body) };
  const show = async (shown: string) =>
    viewDetail(parts, await getDashboard(parts, projectId, shown));
  const first = await findFirst(parts, keyed);
  if (first !== undefined) return { dashboard: await show(first), isNew: false };
  const name = readName('name', body.name);
  const description = body.description === undefined ? null : cleanText(body.description);
  const target = await readTarget(parts, projectId, body);
  const code = settleCode(starterOf(kindOf(target), body.template ?? 'starter'));
  const built = await build(parts, caller, target, code);
  const id = newId('dsh');
  const row = { id, ...keyed, name, description, ...target, ...rowOf(code, built) };
  const stored = await store(parts, { ...row, stamp: stampOf(code) });
  return { dashboard: await show(stored), isNew: stored === id };
};

const moved = ({ id, stamp }: DashboardRow): AppError => {
  const message = `the code of ${id} has changed since it was pulled: run "svc dashboards pull" and push again, or push with --force`;
  return new AppError('conflict', message, { detail: { error: 'dashboard_moved', stamp } });
};

const checkBase = (dashboard: DashboardRow, { baseStamp, force }: DashboardCodeBody): void => {
  if (force === true) return;
  if (baseStamp === undefined) {
    throw invalidParameter(
      'baseStamp',
      'is required: give the "stamp" of the code that you pulled and changed, or set "force"',
    );
  }
  if (baseStamp !== dashboard.stamp) throw moved(dashboard);
};

/**
 * Replaces the code of a dashboard. Throws `invalid` if the new code does not build, and `conflict` if the stored code
 * has changed since the client pulled it.
 */
export const pushCode = async (
  parts: ObservabilityParts,
  caller: Caller,
  id: string,
  body: DashboardCodeBody,
): Promise<DashboardPushed> => {
  const { projectId } = caller;
  const dashboard = await getDashboard(parts, projectId, id);
  checkBase(dashboard, body);
  const { files, entrypoint = null, transform = null, force = false, dryRun = false } = body;
  const code = settleCode({ files, entrypoint, transform });
  const row = rowOf(code, await build(parts, caller, dashboard, code));
  const stamp = stampOf(code);
  if (dryRun) {
    const would = { ...dashboard, ...row, stamp, hasCode: hasCode(code) };
    return { ...viewDetail(parts, would), dryRun };
  }
  const baseStamp = force ? null : (body.baseStamp ?? null);
  const isWritten = await writeDashboardCode(parts.db, { ...row, projectId, id, stamp, baseStamp });
  const now = await getDashboard(parts, projectId, id);
  if (!isWritten) throw moved(now);
  return { ...viewDetail(parts, now), dryRun };
};
