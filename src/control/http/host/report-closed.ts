/** POST /world-sessions/{sessionId}/closed */
import { reportClosed as operation } from '#wire/host-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { reportClosed as report } from '../../sessions/closed.ts';
import { endpoint, respond } from '../endpoint.ts';

export const reportClosed = (parts: Pick<Parts, 'config' | 'db' | 'log' | 'metrics' | 'notices'>) =>
  endpoint(operation, async ({ params, body }, { caller: { hostId } }) => {
    const host = { sessionId: params.sessionId, hostId, generation: body.generation };
    return respond(200, await report(parts, host));
  });
