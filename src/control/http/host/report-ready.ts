/** POST /world-sessions/{sessionId}/ready */
import { reportReady as operation } from '#wire/host-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { reportReady as report } from '../../sessions/ready.ts';
import { endpoint, respond } from '../endpoint.ts';

export const reportReady = (
  parts: Pick<Parts, 'db' | 'log' | 'metrics' | 'notices' | 'tracer' | 'seats'>,
) =>
  endpoint(operation, async ({ params, body }, { caller: { hostId } }) => {
    const { generation, holding, steps } = body;
    const host = { sessionId: params.sessionId, hostId, generation };
    return respond(200, await report(parts, host, holding, steps));
  });
