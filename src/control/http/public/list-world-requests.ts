/** GET /worlds/{slug}/requests */
import { AppError } from '#domain/error.ts';
import { listWorldRequests as operation } from '#wire/public-api/operations.ts';
import { isEntryId, listWorldRequests as list, type WorldPosition } from '../../db/requests.ts';
import type { Parts } from '../../parts.ts';
import { viewRequest } from '../../requests/view.ts';
import { findHead } from '../../worlds/head.ts';
import { endpoint, respond } from '../endpoint.ts';
import { type CursorForm, isWhole, openPage } from '../paging.ts';

/** Milliseconds that a date of JavaScript and of PostgreSQL may have. */
const mostMs = 8.64e15;

const byTime: CursorForm<WorldPosition> = {
  write: ({ at, sessionId, id }) => [at.getTime(), sessionId, id],
  read: ([ms, sessionId, id]) =>
    isWhole(ms) &&
    Math.abs(ms) <= mostMs &&
    typeof sessionId === 'string' &&
    !sessionId.includes('\0') &&
    isEntryId(id)
      ? { at: new Date(ms), sessionId, id }
      : undefined,
};

const isoTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

const readTime = (text: string): Date => {
  const time = new Date(text);
  if (isoTime.test(text) && !Number.isNaN(time.getTime())) return time;
  const message = `"${text}" is no date and time such as 2026-03-01T09:30:00Z, or date`;
  throw new AppError('invalid', message, { fields: [{ path: ['after'], message }] });
};

export const listWorldRequests = (parts: Pick<Parts, 'db' | 'versions'>) =>
  endpoint(operation, async ({ params, query }, { caller: { projectId } }) => {
    const { world } = await findHead(parts, projectId, params.slug);
    const { after, ...filter } = query;
    const since = after === undefined ? filter : { ...filter, after: readTime(after) };
    const { range, metaOf } = openPage(query, byTime);
    const read = await list(parts.db, world.id, since, range);
    return respond(200, { data: read.rows.map(viewRequest), meta: metaOf(read) });
  });
