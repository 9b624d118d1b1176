/** POST /hosts/{hostId}/drain */
import { drainHost as operation } from '#wire/pool-api/operations.ts';
import { underLease } from '../../db/leases.ts';
import { loseHost } from '../../hosts/lose.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const drainHost = (
  parts: Pick<Parts, 'db' | 'log' | 'metrics' | 'notices' | 'placer' | 'tracer'>,
) =>
  endpoint(operation, async ({ params: { hostId }, body }) => {
    const { lease, reason, detail = null, output = null, ifState } = body;
    const leased = { ...parts, db: underLease(parts.db, lease) };
    await loseHost(leased, { hostId, to: 'draining', reason, detail, output, ifState });
    return respond(200, {});
  });
