/** POST /world-sessions */
import { openSession as operation } from '#wire/public-api/operations.ts';
import { type OpenParts, open } from '../../sessions/open.ts';
import { viewOne } from '../../sessions/view.ts';
import { endpoint, respond } from '../endpoint.ts';
import { awaitSession, isSettled } from '../waits.ts';

export const openSession = (parts: OpenParts) =>
  endpoint(operation, async ({ body, query, headers }, { caller, signal }) => {
    const { projectId, level } = caller;
    const { 'idempotency-key': idempotencyKey, traceparent } = headers;
    const opened = await open(parts, {
      projectId,
      body,
      idempotencyKey,
      traceparent,
      signal,
    });
    const session = query.wait
      ? await awaitSession(parts, {
          projectId,
          sessionId: opened.session.id,
          seconds: query.wait,
          signal,
          until: isSettled,
        })
      : opened.session;
    return respond(opened.isNew ? 201 : 200, await viewOne(parts, session, level));
  });
