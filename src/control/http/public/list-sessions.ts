/** GET /world-sessions */
import { listSessions as operation } from '#wire/public-api/operations.ts';
import { listSessions as list } from '../../db/sessions.ts';
import type { Parts } from '../../parts.ts';
import { sessionFields, viewList } from '../../sessions/view.ts';
import { endpoint, respond } from '../endpoint.ts';
import { readFields, toMeta, toRange } from '../paging.ts';

export const listSessions = (parts: Pick<Parts, 'config' | 'db' | 'secrets' | 'versions'>) =>
  endpoint(operation, async ({ query }, { caller: { projectId, level } }) => {
    const fields = readFields(query.fields, sessionFields);
    const range = { ...toRange(query), withInstruction: fields.includes('instruction') };
    const { rows, total } = await list(parts.db, projectId, query, range);
    const data = await viewList(parts, rows, level, fields);
    return respond(200, { data, meta: toMeta(query, total) });
  });
