/** POST /reap */
import { reap as operation } from '#wire/pool-api/operations.ts';
import { underLease } from '../../db/leases.ts';
import { reap as reapSessions } from '../../jobs/reap.ts';
import { tidyUp } from '../../jobs/tidy.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

type Needs = Pick<Parts, 'blobs' | 'config' | 'db' | 'log' | 'metrics' | 'notices'>;

export const reap = (parts: Needs) =>
  endpoint(operation, async ({ body: { lease, ...limits } }) => {
    const leased = { ...parts, db: underLease(parts.db, lease) };
    const ended = await reapSessions(leased, limits);
    // Nothing of it is urgent, and a store that is away must keep no session alive.
    await tidyUp(parts).catch((error: unknown) => parts.log.warn({ err: error }, 'tidying failed'));
    return respond(200, { ended });
  });
