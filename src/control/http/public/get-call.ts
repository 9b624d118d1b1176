/** GET /world-sessions/{sessionId}/calls/{callId} */
import { AppError } from '#domain/error.ts';
import { getCall as operation } from '#wire/public-api/operations.ts';
import { viewCall } from '../../calls/view.ts';
import { awaitCall } from '../../calls/wait.ts';
import { findCall } from '../../db/calls.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';
import { toMs } from '../waits.ts';

export const getCall = (parts: Pick<Parts, 'db' | 'notices'>) =>
  endpoint(operation, async ({ params, query }, { caller: { projectId }, signal }) => {
    const place = { projectId, ...params };
    const watch = parts.notices.watch(params.callId);
    try {
      const call = await findCall(parts.db, place);
      if (call === undefined) {
        throw new AppError('not_found', `there is no call "${params.callId}" in this session`);
      }
      const wait = { ms: toMs(query.wait), signal };
      return respond(200, viewCall(await awaitCall(parts, watch, place, call, wait)));
    } finally {
      watch.end();
    }
  });
