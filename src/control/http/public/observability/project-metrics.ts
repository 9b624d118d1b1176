/** Endpoints of metrics over traces, observations and scores. */
import * as api from '#wire/public-api/operations.ts';
import { readDailyMetrics } from '../../../observability/metrics/daily.ts';
import {
  olderRules,
  presentRules,
  readMetricsQuery,
} from '../../../observability/metrics/read-query.ts';
import { runMetricsQuery } from '../../../observability/metrics/run.ts';
import type { Parts } from '../../../parts.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

export const projectMetricsEndpoints = ({ traces: { db } }: Parts): Endpoint[] => [
  endpoint(api.getMetrics, async ({ query }, { caller: { projectId } }) => {
    const asked = readMetricsQuery(query.query, olderRules);
    return respond(200, { data: await runMetricsQuery(db, projectId, asked) });
  }),

  endpoint(api.getBoundedMetrics, async ({ query }, { caller: { projectId } }) => {
    const asked = readMetricsQuery(query.query, presentRules);
    return respond(200, { data: await runMetricsQuery(db, projectId, asked) });
  }),

  endpoint(api.listDailyMetrics, async ({ query }, { caller: { projectId } }) =>
    respond(200, await readDailyMetrics(db, projectId, query)),
  ),
];
