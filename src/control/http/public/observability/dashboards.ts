/** Endpoints of dashboards. */
import * as api from '#wire/public-api/operations.ts';
import { listDashboards } from '../../../db/observability/dashboards.ts';
import { render, testTransform } from '../../../observability/dashboards/render.ts';
import {
  createDashboard,
  dropDashboard,
  getDashboard,
  pushCode,
} from '../../../observability/dashboards/stored.ts';
import { viewDashboard, viewDetail } from '../../../observability/dashboards/view.ts';
import type { Parts } from '../../../parts.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

const usualListed = 50;

export const dashboardEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.listDashboards, async ({ query }, { caller: { projectId } }) => {
    const rows = await listDashboards(parts.db, projectId, query.limit ?? usualListed);
    return respond(200, { data: rows.map((row) => viewDashboard(parts, row)) });
  }),

  endpoint(api.createDashboard, async ({ body, headers }, { caller: { projectId }, signal }) => {
    const key = headers['idempotency-key'] ?? null;
    const made = await createDashboard(parts, { projectId, signal }, body, key);
    return respond(made.isNew ? 201 : 200, made.dashboard);
  }),

  endpoint(api.getDashboard, async ({ params }, { caller: { projectId } }) =>
    respond(200, viewDetail(parts, await getDashboard(parts, projectId, params.dashboardId))),
  ),

  endpoint(api.deleteDashboard, async ({ params }, { caller: { projectId } }) => {
    await dropDashboard(parts, projectId, params.dashboardId);
    return respond(200, { deleted: params.dashboardId });
  }),

  endpoint(api.pushDashboardCode, async ({ params, body }, { caller: { projectId }, signal }) =>
    respond(200, await pushCode(parts, { projectId, signal }, params.dashboardId, body)),
  ),

  endpoint(api.testTransform, async ({ params, body }, { caller: { projectId }, signal }) => {
    const dashboard = await getDashboard(parts, projectId, params.dashboardId);
    return respond(200, await testTransform(parts, { projectId, signal }, dashboard, body));
  }),

  endpoint(api.renderDashboard, async ({ params, body }, { caller: { projectId }, signal }) => {
    const dashboard = await getDashboard(parts, projectId, params.dashboardId);
    return respond(200, await render(parts, { projectId, signal }, dashboard, body));
  }),
];
