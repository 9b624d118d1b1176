/** GET /world-sessions/{sessionId}/calls */
import { pollCalls as operation } from '#wire/host-api/operations.ts';
import { nextDirective } from '../../calls/orders.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const pollCalls = (parts: Pick<Parts, 'db' | 'notices' | 'seats'>) =>
  endpoint(operation, async ({ params, query }, { caller: { hostId }, signal }) => {
    const host = { sessionId: params.sessionId, hostId, generation: query.generation };
    const hold = { seconds: query.hold, isFinal: query.final === true, signal };
    return respond(200, await nextDirective(parts, host, hold));
  });
