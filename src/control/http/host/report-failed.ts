/** POST /world-sessions/{sessionId}/failed */
import { reportFailed as operation } from '#wire/host-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { reportFailed as report } from '../../sessions/ready.ts';
import { endpoint, respond } from '../endpoint.ts';

export const reportFailed = (parts: Pick<Parts, 'db' | 'log' | 'metrics' | 'notices'>) =>
  endpoint(operation, async ({ params, body }, { caller: { hostId } }) => {
    const { generation, code, message } = body;
    await report(parts, { sessionId: params.sessionId, hostId, generation }, { code, message });
    return respond(200, {});
  });
