/** Operations that return metrics. */
import { getOperation } from '../../operation.ts';
import { DailyMetricsList, DailyMetricsQuery, MetricsAnswer, MetricsParams } from './metrics.ts';

const slow = { 524: 'The query takes too long; request a shorter period, or fewer groups.' };

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
  summary:
    'Metrics as `GET /metrics` returns them, without the view of traces and without grouping by ids',
  path: '/v2/metrics',
  access: 'inspect',
  unknown: 'ignored',
  query: MetricsParams,
  answer: MetricsAnswer,
  refusals: slow,
});

export const listDailyMetrics = getOperation({
  id: 'listDailyMetrics',
  summary: 'Daily totals of the project, with a breakdown by model, latest day first',
  path: '/metrics/daily',
  access: 'inspect',
  unknown: 'ignored',
  query: DailyMetricsQuery,
  answer: DailyMetricsList,
  refusals: slow,
});
