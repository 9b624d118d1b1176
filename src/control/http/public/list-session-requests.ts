/** GET /world-sessions/{sessionId}/requests */
import { listSessionRequests as operation } from '#wire/public-api/operations.ts';
import { isEntryId, listSessionRequests as list, type SessionPosition } from '../../db/requests.ts';
import type { Parts } from '../../parts.ts';
import { viewRequest } from '../../requests/view.ts';
import { endpoint, respond } from '../endpoint.ts';
import { type CursorForm, openPage } from '../paging.ts';
import { noSession } from '../waits.ts';

const byNumber: CursorForm<SessionPosition> = {
  write: ({ id }) => [id],
  read: ([id]) => (isEntryId(id) ? { id } : undefined),
};

export const listSessionRequests = ({ db }: Pick<Parts, 'db'>) =>
  endpoint(operation, async ({ params: { sessionId }, query }, { caller: { projectId } }) => {
    const { range, metaOf } = openPage(query, byNumber);
    const found = await list(db, projectId, sessionId, query, range);
    if (found === undefined) throw noSession(sessionId);
    const meta = { ...metaOf(found), dropped: found.dropped };
    return respond(200, { data: found.rows.map(viewRequest), meta });
  });
