/** DELETE /world-sessions/{sessionId} */
import { closeSession as operation } from '#wire/public-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { close } from '../../sessions/close.ts';
import { viewOne } from '../../sessions/view.ts';
import { endpoint, respond } from '../endpoint.ts';
import { awaitSession, isOver } from '../waits.ts';

type Needs = Pick<Parts, 'config' | 'db' | 'log' | 'metrics' | 'notices' | 'secrets' | 'versions'>;

export const closeSession = (parts: Needs) =>
  endpoint(operation, async ({ params, query, body }, { caller, signal }) => {
    const { projectId, level } = caller;
    const { sessionId } = params;
    await close(parts, projectId, sessionId, body?.keepWarm ?? false);
    const wait = { projectId, sessionId, seconds: query.wait, signal, until: isOver };
    const session = await awaitSession(parts, wait);
    return respond(200, await viewOne(parts, session, level));
  });
