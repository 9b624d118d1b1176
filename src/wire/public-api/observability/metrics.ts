/** Request and answer schemas of metrics over telemetry. */
import { nullable } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { ListMeta } from '../lists.ts';
import { Param, pageParams } from './trace.ts';

const Dollars = Type.Number({ description: 'in dollars' });

export const DailyMetricsView = Type.Object({
  date: Type.String({ format: 'date', description: 'day in UTC' }),
  countTraces: Type.Number(),
  countObservations: Type.Number(),
  totalCost: Dollars,
  usage: Type.Array(
    Type.Object({
      model: nullable(Type.String()),
      inputUsage: Type.Number(),
      outputUsage: Type.Number(),
      totalUsage: Type.Number(),
      totalCost: Dollars,
      countObservations: Type.Number(),
      countTraces: Type.Number(),
    }),
    { description: 'usage by model, the most expensive first, at most 100 models' },
  ),
});
export type DailyMetricsView = Static<typeof DailyMetricsView>;

export const DailyMetricsQuery = Type.Object({
  ...pageParams,
  traceName: Param(),
  userId: Param(),
  tags: Param('tags that the trace must all have'),
  environment: Param('environments; the trace must be in one of them'),
  fromTimestamp: Param(),
  toTimestamp: Param(),
});

export const DailyMetricsList = Type.Object({
  data: Type.Array(DailyMetricsView),
  meta: ListMeta,
});

export const MetricsParams = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 100_000,
    description:
      'JSON: `{view, metrics: [{measure, aggregation}], dimensions?, filters?, timeDimension?, fromTimestamp, toTimestamp, orderBy?, config?}`',
  }),
});

/**
 * Rows of a result. A row has the group-by fields under their names, `time_dimension`, and `{aggregation}_{measure}`.
 */
export const MetricsAnswer = Type.Object({
  data: Type.Array(Type.Record(Type.String(), Type.Unknown())),
});
