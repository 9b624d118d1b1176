/** GET /world-sessions */
import { listSessions as operation } from '#wire/public-api/operations.ts';
import { listSessions as list } from '../../db/sessions.ts';
import type { Parts } from '../../parts.ts';
import { viewSessions } from '../../sessions/view.ts';
import { endpoint, respond } from '../endpoint.ts';
import { toMeta, toRange } from '../paging.ts';

export const listSessions = (parts: Pick<Parts, 'config' | 'db' | 'versions'>) =>
  endpoint(operation, async ({ query }, { caller: { projectId, level } }) => {
    const { rows, total } = await list(parts.db, projectId, query, toRange(query));
    const data = await viewSessions(parts, rows, level);
    return respond(200, { data, meta: toMeta(query, total) });
  });
