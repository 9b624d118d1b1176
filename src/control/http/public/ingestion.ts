/** The routes by which agents tell what they did. */
import * as api from '#wire/public-api/operations.ts';
import { ingest } from '../../ingestion/ingest.ts';
import { putSpans } from '../../ingestion/one.ts';
import type { Parts } from '../../parts.ts';
import { type Endpoint, endpoint, respond } from '../endpoint.ts';

const endpointsOf = ({ traces, log }: Parts): Endpoint[] => [
  endpoint(api.ingest, async ({ body: { events } }, { caller }) => {
    await traces.month.check(caller.projectId);
    return respond(207, await ingest(traces, caller, events, log));
  }),

  endpoint(api.ingestSpans, async ({ body }, { caller: { projectId } }) => {
    const { spans, rejected, reason } = body;
    await traces.month.check(projectId);
    await putSpans(traces, projectId, spans);
    if (rejected === 0) return respond(200, {});
    const partialSuccess = { rejectedSpans: String(rejected), errorMessage: reason };
    return respond(200, { partialSuccess });
  }),

  endpoint(api.ingestMetrics, async () => respond(200, {})),
];

/** Sessions that are opened go before what is read here. */
export const ingestionEndpoints = (parts: Parts): Endpoint[] =>
  endpointsOf(parts).map((one) => ({
    ...one,
    giveWay: () => parts.traces.rightOfWay.giving()(),
  }));
