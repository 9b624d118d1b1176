/** GET /world-sessions/{sessionId}/calls */
import { listCalls as operation } from '#wire/public-api/operations.ts';
import { viewListedCall } from '../../calls/view.ts';
import { callFields, listCalls as list } from '../../db/calls.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';
import { readFields, toMeta, toRange } from '../paging.ts';
import { noSession } from '../waits.ts';

export const listCalls = ({ db }: Pick<Parts, 'db'>) =>
  endpoint(operation, async ({ params, query }, { caller: { projectId } }) => {
    const fields = readFields(query.fields, callFields);
    const range = { ...toRange(query), fields };
    const found = await list(db, projectId, params.sessionId, range);
    if (found === undefined) throw noSession(params.sessionId);
    const body = { data: found.rows.map(viewListedCall(fields)), meta: toMeta(query, found.total) };
    return respond(200, body);
  });
