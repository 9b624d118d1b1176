/**
 * Serves the address of a dashboard (its `url`), below `/dashboard`. Clients that authenticate with a project's key
 * pair get the dashboard's page.
 */
import { operation } from '#wire/operation.ts';
import { DashboardParams } from '#wire/public-api/observability/dashboard.ts';
import { Bytes } from '#wire/schemas.ts';
import { kindOf } from '../../../observability/dashboards/code.ts';
import {
  frameAddress,
  hourFromNow,
  sessionsAddress,
} from '../../../observability/dashboards/links.ts';
import { pageHeaders, writePage } from '../../../observability/dashboards/page.ts';
import { getDashboard } from '../../../observability/dashboards/stored.ts';
import type { Parts } from '../../../parts.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

const openDashboard = operation({
  id: 'openDashboard',
  summary: 'The address of a dashboard: its page',
  method: 'GET',
  path: '/{dashboardId}',
  access: 'write',
  params: DashboardParams,
  answers: { 200: Bytes },
});

export const dashboardAddressEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(openDashboard, async ({ params: { dashboardId } }, { caller: { projectId } }) => {
    const dashboard = await getDashboard(parts, projectId, dashboardId);
    const terms = { projectId, dashboardId };
    const until = hourFromNow();
    const page = writePage(
      { ...dashboard, kind: kindOf(dashboard) },
      {
        frame: frameAddress(parts, terms, until),
        ...(kindOf(dashboard) === 'session'
          ? {}
          : { sessions: sessionsAddress(parts, terms, until) }),
      },
    );
    return { ...respond(200, Buffer.from(page)), headers: { ...pageHeaders } };
  }),
];
