/** Formats dashboards and task sets for a person. */
import type { DashboardView, TransformTested } from '#wire/public-api/observability/dashboard.ts';
import type { TaskSetView } from '#wire/public-api/worlds/task-set.ts';
import type { View } from '../terminal/context.ts';
import { cutLine, formatAgo, formatFields } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

const words = { session: 'sessions', task: 'tasks', environment: 'a world' } as const;

/** Formats dashboards as a list. */
export const listDashboards = (dashboards: readonly DashboardView[], view: View): string =>
  formatFitted(
    ['DASHBOARD', 'NAME', 'OF', 'CODE', 'CHANGED'],
    dashboards.map(({ id, name, kind, hasCode, updatedAt }) => [
      ...[id, cutLine(name), words[kind], hasCode ? 'yes' : 'none'],
      formatAgo(updatedAt),
    ]),
    view,
    { none: 'no dashboards; "svc dashboards create" makes one', cut: ['NAME'] },
  );

type Shown = DashboardView & { files: readonly { path: string }[]; stamp: string };

/** Formats one dashboard. */
export const describeDashboard = (shown: Shown): string =>
  formatFields([
    ['dashboard', shown.id],
    ['name', shown.name],
    ['description', shown.description],
    ['of', words[shown.kind]],
    ['world', shown.environmentId],
    ['task sets', shown.taskSetIds.length === 0 ? null : shown.taskSetIds.join(', ')],
    ['files', shown.files.length === 0 ? 'none' : shown.files.map(({ path }) => path).join(', ')],
    ['stamp', shown.stamp],
    ['page', shown.url],
  ]);

/** Formats the result of testing a transform. */
export const describeTried = ({ sessionId, output, truncated, error }: TransformTested): string => {
  if (error !== null) return `${sessionId ?? 'no session'}: ${error}`;
  const text = typeof output === 'string' && truncated ? output : JSON.stringify(output, null, 2);
  return truncated ? `${text}\n… (cut; this is the beginning of the output)` : text;
};

/** Formats task sets as a list. */
export const listTaskSets = (sets: readonly TaskSetView[], view: View): string =>
  formatFitted(
    ['TASK SET', 'NAME', 'TASKS', 'MADE'],
    sets.map(({ id, name, taskIds, createdAt }) => [
      ...[id, cutLine(name), String(taskIds.length)],
      formatAgo(createdAt),
    ]),
    view,
    { none: 'no task sets; "svc task-sets create" makes one', cut: ['NAME'] },
  );

/** Formats one task set. */
export const describeTaskSet = ({ id, name, description, taskIds }: TaskSetView): string =>
  formatFields([
    ['task set', id],
    ['name', name],
    ['description', description],
    ['tasks', taskIds.join(', ')],
  ]);
