/** GET /world-sessions/{sessionId}/requests */
import { listSessionRequests as operation } from '#wire/public-api/operations.ts';
import { listSessionRequests as list } from '../../db/requests.ts';
import type { Parts } from '../../parts.ts';
import { viewRequest } from '../../requests/view.ts';
import { endpoint, respond } from '../endpoint.ts';
import { toMeta, toRange } from '../paging.ts';
import { noSession } from '../waits.ts';

export const listSessionRequests = ({ db }: Pick<Parts, 'db'>) =>
  endpoint(operation, async ({ params: { sessionId }, query }, { caller: { projectId } }) => {
    const found = await list(db, projectId, sessionId, query, toRange(query));
    if (found === undefined) throw noSession(sessionId);
    const { rows, total, dropped } = found;
    const meta = { ...toMeta(query, total), dropped };
    return respond(200, { data: rows.map(viewRequest), meta });
  });
