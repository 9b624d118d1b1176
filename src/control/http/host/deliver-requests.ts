/** POST /world-sessions/{sessionId}/requests */
import { deliverRequests as operation } from '#wire/host-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { receiveRequests } from '../../requests/receive.ts';
import { endpoint, respond } from '../endpoint.ts';

export const deliverRequests = (parts: Pick<Parts, 'db'>) =>
  endpoint(operation, async ({ params, body }, { caller: { hostId } }) => {
    const host = { sessionId: params.sessionId, hostId, generation: body.generation };
    await receiveRequests(parts, host, body.entries);
    return respond(200, {});
  });
