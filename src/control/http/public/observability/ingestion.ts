/** Endpoints that ingest telemetry of agents: events and spans. */
import { AppError } from '#domain/error.ts';
import * as api from '#wire/public-api/operations.ts';
import { unpacked } from '../../../base/bodies/slices.ts';
import { type Ingested, ingest } from '../../../observability/ingestion/ingest.ts';
import { putSpans } from '../../../observability/ingestion/single-events.ts';
import type { Parts } from '../../../parts.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

/** Throws if the client of the request has disconnected. The client's retry sends the remaining events again. */
const stopIfGone = (signal: AbortSignal): void => {
  if (signal.aborted)
    throw new AppError('unavailable', 'the client disconnected before its answer');
};

const endpointsOf = ({ traces, log }: Parts): Endpoint[] => [
  endpoint(api.ingest, async ({ body }, { caller, signal }) => {
    await traces.month.check(caller.projectId);
    const ingested: Ingested = { successes: [], errors: [] };
    for (const events of unpacked(body.events)) {
      stopIfGone(signal);
      const { successes, errors } = await ingest(traces, caller, events, log);
      ingested.successes.push(...successes);
      ingested.errors.push(...errors);
    }
    return respond(207, ingested);
  }),

  endpoint(api.ingestSpans, async ({ body }, { caller: { projectId }, signal }) => {
    const { rejected, reason } = body;
    await traces.month.check(projectId);
    for (const spans of unpacked(body.spans)) {
      stopIfGone(signal);
      await putSpans(traces, projectId, spans);
    }
    if (rejected === 0) return respond(200, {});
    const partialSuccess = { rejectedSpans: String(rejected), errorMessage: reason };
    return respond(200, { partialSuccess });
  }),

  endpoint(api.ingestMetrics, async () => respond(200, {})),
];

/** Builds the endpoints. Each of them yields to opens of sessions before it reads a body. */
export const ingestionEndpoints = (parts: Parts): Endpoint[] =>
  endpointsOf(parts).map((one) => ({
    ...one,
    yieldToOpens: () => parts.openPriority.giving()(),
  }));
