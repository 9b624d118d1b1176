/** POST /reap */
import { reap as operation } from '#wire/pool-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { reap as reapSessions } from '../../sessions/reap.ts';
import { endpoint, respond } from '../endpoint.ts';

export const reap = (parts: Pick<Parts, 'db' | 'metrics' | 'notices'>) =>
  endpoint(operation, async ({ body }) => respond(200, { ended: await reapSessions(parts, body) }));
