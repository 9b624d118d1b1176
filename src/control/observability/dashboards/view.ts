/** Converts dashboards to the form that clients see. */
import type { DashboardDetail, DashboardView } from '#wire/public-api/observability/dashboard.ts';
import type { CodeRow, DashboardRow } from '../../db/observability/dashboards.ts';
import type { ObservabilityParts } from '../parts.ts';
import { codeIn, kindOf } from './code.ts';

/** Path of the dashboards' pages below the URL of the service. */
export const dashboardPath = '/dashboard';

/** Returns a dashboard in the form for lists. */
export const viewDashboard = (
  { publicUrl }: Pick<ObservabilityParts, 'publicUrl'>,
  row: DashboardRow,
): DashboardView => ({
  id: row.id,
  name: row.name,
  description: row.description,
  kind: kindOf(row),
  environmentId: row.worldId,
  taskSetIds: row.taskSetId === null ? [] : [row.taskSetId],
  hasCode: row.hasCode,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  url: `${publicUrl()}${dashboardPath}/${row.id}`,
});

/** Returns a dashboard with its code. */
export const viewDetail = (
  parts: Pick<ObservabilityParts, 'publicUrl'>,
  row: DashboardRow & CodeRow,
): DashboardDetail => {
  const { files, entrypoint, transform } = codeIn(row);
  return {
    ...viewDashboard(parts, row),
    ...{ files: [...files], entrypoint, transform, compiledOnly: false, stamp: row.stamp },
  };
};
