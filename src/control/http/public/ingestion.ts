/** The routes by which agents tell what they did. */
import * as api from '#wire/public-api/operations.ts';
import { ingest } from '../../ingestion/ingest.ts';
import type { Parts } from '../../parts.ts';
import { type Endpoint, endpoint, respond } from '../endpoint.ts';

export const ingestionEndpoints = ({ traces, log }: Parts): Endpoint[] => [
  endpoint(api.ingest, async ({ body: { events } }, { caller }) =>
    respond(207, await ingest(traces, caller, events, log)),
  ),
];
