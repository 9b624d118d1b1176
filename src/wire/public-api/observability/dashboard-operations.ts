/** Operations on dashboards. */
import { deleteOperation, getOperation, operation } from '../../operation.ts';
import { IdempotencyHeaders } from '../../schemas.ts';
import { Type } from '../../type.ts';
import {
  DashboardBody,
  DashboardCodeBody,
  DashboardDetail,
  DashboardList,
  DashboardParams,
  DashboardPushed,
  DashboardQuery,
  RenderBody,
  Rendered,
  TestTransformBody,
  TransformTested,
} from './dashboard.ts';

/** Maximum size in bytes of bodies with code. In JSON, a character may take several bytes. */
const bodyBytes = 4.5 * 1024 * 1024;
const busy =
  'Too much code of the project is queued to be built or run, or the project already has the maximum number of dashboards.';

export const listDashboards = getOperation({
  id: 'listDashboards',
  summary: 'Dashboards, newest first',
  path: '/dashboards',
  access: 'read',
  query: DashboardQuery,
  answer: DashboardList,
});

export const createDashboard = operation({
  id: 'createDashboard',
  summary: 'Create a dashboard of sessions, of the tasks of a task set, or of a world',
  method: 'POST',
  path: '/dashboards',
  access: 'write',
  headers: IdempotencyHeaders,
  body: DashboardBody,
  answers: { 200: DashboardDetail, 201: DashboardDetail },
  refusals: { 429: busy },
});

export const getDashboard = getOperation({
  id: 'getDashboard',
  summary: 'A dashboard with its code',
  path: '/dashboards/{dashboardId}',
  access: 'read',
  unknown: 'ignored',
  params: DashboardParams,
  answer: DashboardDetail,
});

export const pushDashboardCode = operation({
  id: 'pushDashboardCode',
  summary: 'Replace the code of a dashboard; if the code is rejected, the old code stays',
  method: 'PUT',
  path: '/dashboards/{dashboardId}/code',
  access: 'write',
  params: DashboardParams,
  body: DashboardCodeBody,
  bodyBytes,
  answers: { 200: DashboardPushed },
  refusals: {
    400: '`dashboard_code_rejected`: `problems` lists all problems of the code, each with `path`, `line`, `column`, `code` and `message`.',
    409: '`dashboard_moved`: the stored code is no longer that of `baseStamp`; `stamp` identifies the stored code.',
    429: busy,
  },
});

export const testTransform = operation({
  id: 'testTransform',
  summary: 'Run the transform of a dashboard of sessions on one session; nothing is stored',
  method: 'POST',
  path: '/dashboards/{dashboardId}/test-transform',
  access: 'write',
  params: DashboardParams,
  body: TestTransformBody,
  answers: { 200: TransformTested },
  refusals: { 429: busy },
});

export const renderDashboard = operation({
  id: 'renderDashboard',
  summary:
    'Render a dashboard over a session, a task set, a task of it, or its world; nothing is stored',
  method: 'POST',
  path: '/dashboards/{dashboardId}/render',
  access: 'write',
  params: DashboardParams,
  body: RenderBody,
  answers: { 200: Rendered },
  refusals: { 429: busy },
});

export const deleteDashboard = deleteOperation({
  id: 'deleteDashboard',
  summary: 'Delete a dashboard with its code',
  path: '/dashboards/{dashboardId}',
  access: 'write',
  params: DashboardParams,
  answer: Type.Object({ deleted: Type.String() }),
});
