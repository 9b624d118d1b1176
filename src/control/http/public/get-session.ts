/** GET /world-sessions/{sessionId} */
import { getSession as operation } from '#wire/public-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { viewOne } from '../../sessions/view.ts';
import { endpoint, respond } from '../endpoint.ts';
import { awaitSession, isSettled } from '../waits.ts';

type Needs = Pick<Parts, 'config' | 'db' | 'notices' | 'secrets' | 'versions'>;

export const getSession = (parts: Needs) =>
  endpoint(operation, async ({ params, query }, { caller: { projectId, level }, signal }) => {
    const { sessionId } = params;
    const seconds = query.wait;
    const wait = { projectId, sessionId, seconds, signal, until: isSettled };
    const session = await awaitSession(parts, wait);
    return respond(200, await viewOne(parts, session, level));
  });
