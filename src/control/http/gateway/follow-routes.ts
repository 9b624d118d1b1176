/** GET /changes */
import { followRoutes as operation } from '#wire/gateway-api/operations.ts';
import { holdUntil, routesTopic } from '../../news/notices.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';
import { toMs } from '../waits.ts';

export const followRoutes = ({ notices }: Pick<Parts, 'notices'>) =>
  endpoint(operation, async ({ query: { after = '', hold } }, { signal }) => {
    const look = async () => notices.routes.since(after);
    const changes = await holdUntil(notices, { topic: routesTopic, ms: toMs(hold), signal, look });
    return respond(200, changes ?? { cursor: after, missed: false, sessionIds: [] });
  });
