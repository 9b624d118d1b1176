/** Operations that return metrics. */
import { getOperation } from '../../operation.ts';
import { DailyMetricsList, DailyMetricsQuery, MetricsAnswer, MetricsParams } from './metrics.ts';

const slow = { 524: 'The query takes too long; ask for a shorter time, or for fewer groups.' };

export const getMetrics = getOperation({
  id: 'getMetrics',
  summary: 'Metrics of traces, observations, scores or events of users, grouped and filtered',
  path: '/metrics',
  access: 'inspect',
  unknown: 'ignored',
  query: MetricsParams,
  answer: MetricsAnswer,
  refusals: slow,
});

export const getBoundedMetrics = getOperation({
  id: 'getBoundedMetrics',
  summary: 'The same without the view of traces, and without ids to group by',
  path: '/v2/metrics',
  access: 'inspect',
  unknown: 'ignored',
  query: MetricsParams,
  answer: MetricsAnswer,
  refusals: slow,
});

export const listDailyMetrics = getOperation({
  id: 'listDailyMetrics',
  summary: 'What the project came to day by day, the latest first, with models',
  path: '/metrics/daily',
  access: 'inspect',
  unknown: 'ignored',
  query: DailyMetricsQuery,
  answer: DailyMetricsList,
  refusals: slow,
});
