/** Operations that return metrics. */
import { operation } from '../../operation.ts';
import { DailyMetricsList, DailyMetricsQuery, MetricsAnswer, MetricsParams } from './metrics.ts';

const slow = { 524: 'The query takes too long; ask for a shorter time, or for fewer groups.' };

export const getMetrics = operation({
  id: 'getMetrics',
  summary: 'Metrics of traces, observations, scores or events of users, grouped and filtered',
  method: 'GET',
  path: '/metrics',
  access: 'inspect',
  unknown: 'ignored',
  query: MetricsParams,
  answers: { 200: MetricsAnswer },
  refusals: slow,
});

export const getBoundedMetrics = operation({
  id: 'getBoundedMetrics',
  summary: 'The same without the view of traces, and without ids to group by',
  method: 'GET',
  path: '/v2/metrics',
  access: 'inspect',
  unknown: 'ignored',
  query: MetricsParams,
  answers: { 200: MetricsAnswer },
  refusals: slow,
});

export const listDailyMetrics = operation({
  id: 'listDailyMetrics',
  summary: 'What the project came to day by day, the latest first, with models',
  method: 'GET',
  path: '/metrics/daily',
  access: 'inspect',
  unknown: 'ignored',
  query: DailyMetricsQuery,
  answers: { 200: DailyMetricsList },
  refusals: slow,
});
