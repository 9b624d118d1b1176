/** PATCH /world-sessions/{sessionId} */
import { AppError } from '#domain/error.ts';
import { updateSession as operation } from '#wire/public-api/operations.ts';
import { findSession, pinSession } from '../../db/sessions.ts';
import type { Parts } from '../../parts.ts';
import { viewOne } from '../../sessions/view.ts';
import { endpoint, respond } from '../endpoint.ts';
import { noSession } from '../waits.ts';

export const updateSession = (parts: Pick<Parts, 'config' | 'db' | 'secrets' | 'versions'>) =>
  endpoint(operation, async ({ params, body }, { caller: { projectId, level } }) => {
    const { sessionId } = params;
    const isPinned = await pinSession(parts.db, projectId, sessionId, body.pinned);
    const session = await findSession(parts.db, projectId, sessionId);
    if (session === undefined) throw noSession(sessionId);
    if (!isPinned) {
      const message = `${sessionId} is ${session.state}; only an open session can be pinned`;
      throw new AppError('conflict', message, { detail: { state: session.state } });
    }
    return respond(200, await viewOne(parts, session, level));
  });
