/** GET /world-sessions */
import { listSessions as operation } from '#wire/public-api/operations.ts';
import { listSessions as list, type SessionPosition } from '../../db/sessions.ts';
import type { Parts } from '../../parts.ts';
import { sessionFields, viewList } from '../../sessions/view.ts';
import { endpoint, respond } from '../endpoint.ts';
import { type CursorForm, isWhole, openPage, readFields } from '../paging.ts';

const byAge: CursorForm<SessionPosition> = {
  write: ({ createdAtUs, id }) => [createdAtUs, id],
  read: ([createdAtUs, id]) =>
    isWhole(createdAtUs) && createdAtUs >= 0 && typeof id === 'string' && !id.includes('\0')
      ? { createdAtUs, id }
      : undefined,
};

export const listSessions = (parts: Pick<Parts, 'config' | 'db' | 'secrets' | 'versions'>) =>
  endpoint(operation, async ({ query }, { caller: { projectId, level } }) => {
    const fields = readFields(query.fields, sessionFields);
    const { range, metaOf } = openPage(query, byAge);
    const page = { ...range, withInstruction: fields.includes('instruction') };
    const read = await list(parts.db, projectId, query, page);
    const data = await viewList(parts, read.rows, level, fields);
    return respond(200, { data, meta: metaOf(read) });
  });
