/** POST /reap */
import { reap as operation } from '#wire/pool-api/operations.ts';
import { underLease } from '../../db/leases.ts';
import type { Parts } from '../../parts.ts';
import { reap as reapSessions } from '../../sessions/reap.ts';
import { endpoint, respond } from '../endpoint.ts';

export const reap = (parts: Pick<Parts, 'db' | 'log' | 'metrics' | 'notices'>) =>
  endpoint(operation, async ({ body: { lease, ...limits } }) => {
    const leased = { ...parts, db: underLease(parts.db, lease) };
    return respond(200, { ended: await reapSessions(leased, limits) });
  });
