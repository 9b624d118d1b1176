/**
 * Endpoints that list the requests made to one session, or to all sessions of a world. JSON of clients is passed on as
 * text, unparsed.
 */
import { AppError } from '#domain/error.ts';
import * as api from '#wire/public-api/operations.ts';
import type { RequestView } from '#wire/public-api/sessions/request.ts';
import { JsonText } from '../../../base/json/json-text.ts';
import {
  isEntryId,
  listSessionRequests,
  listWorldRequests,
  type RequestRow,
  type SessionPosition,
  type WorldPosition,
} from '../../../db/sessions/requests.ts';
import { noSession } from '../../../db/sessions/sessions.ts';
import type { Parts } from '../../../parts.ts';
import { getWorld } from '../../../worlds/versions/address.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { type CursorForm, isWhole, openPage } from '../../server/paging.ts';

const jsonMembers = ['request', 'response', 'changes', 'rows'] as const;
/** JSON sent for members whose values are left out because of the page's size budget. */
const nothing = { request: 'null', response: 'null', changes: '{}', rows: '[]' };

const viewRequest = ({ at, ...row }: RequestRow): RequestView => {
  const members = jsonMembers.map((name) => [name, new JsonText(row[name] ?? nothing[name])]);
  return {
    ...row,
    ...(Object.fromEntries(members) as Pick<RequestView, (typeof jsonMembers)[number]>),
    ...(row.request === null ? { omitted: [...jsonMembers] } : {}),
    at: at.toISOString(),
  };
};

const byNumber: CursorForm<SessionPosition> = {
  write: ({ id }) => [id],
  read: ([id]) => (isEntryId(id) ? { id } : undefined),
};

/** Largest distance from 1970 that both a JavaScript and a PostgreSQL date can hold, in milliseconds. */
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

export const requestEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.listSessionRequests, async ({ params, query }, { caller: { projectId } }) => {
    const { sessionId } = params;
    const { range, metaOf } = openPage(query, byNumber);
    const found = await listSessionRequests(parts.db, projectId, sessionId, query, range);
    if (found === undefined) throw noSession(sessionId);
    const meta = { ...metaOf(found), dropped: found.dropped };
    return respond(200, { data: found.rows.map(viewRequest), meta });
  }),

  endpoint(api.listWorldRequests, async ({ params, query }, { caller: { projectId } }) => {
    const world = await getWorld(parts, projectId, params.slug);
    const { after, ...filter } = query;
    const since = after === undefined ? filter : { ...filter, after: readTime(after) };
    const { range, metaOf } = openPage(query, byTime);
    const read = await listWorldRequests(parts.db, world.id, since, range);
    return respond(200, { data: read.rows.map(viewRequest), meta: metaOf(read) });
  }),
];
