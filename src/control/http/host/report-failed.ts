/** POST /world-sessions/{sessionId}/failed */
import { cut } from '#domain/cut.ts';
import { reportFailed as operation } from '#wire/host-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { reportFailed as report } from '../../sessions/ready.ts';
import { endpoint, respond } from '../endpoint.ts';

/** Of what a host says of a failure; the session tells it, also in lists. */
const mostChars = 4_000;

export const reportFailed = (parts: Pick<Parts, 'db' | 'log' | 'metrics' | 'notices'>) =>
  endpoint(operation, async ({ params, body }, { caller: { hostId } }) => {
    const { generation, code } = body;
    const message = cut(body.message, mostChars);
    await report(parts, { sessionId: params.sessionId, hostId, generation }, { code, message });
    return respond(200, {});
  });
