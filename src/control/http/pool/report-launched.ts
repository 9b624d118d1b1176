/** POST /hosts/{hostId}/launched */
import { AppError } from '#domain/error.ts';
import { readHostAddress } from '#domain/host-address.ts';
import { reportLaunched as operation } from '#wire/pool-api/operations.ts';
import type { Queryable } from '../../db/database.ts';
import { noteLaunched } from '../../db/hosts.ts';
import { underLease } from '../../db/leases.ts';
import { placeWarm } from '../../lifecycle/placer.ts';
import { poolTopic, routeTopic } from '../../news/notices.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const reportLaunched = (
  parts: Pick<Parts, 'db' | 'log' | 'metrics' | 'notices' | 'placer' | 'tracer'>,
) =>
  endpoint(operation, async ({ params, body }) => {
    const { hostId } = params;
    const { lease, runtimeId, address } = body;
    if (typeof address === 'string' && readHostAddress(address) === undefined) {
      const message = `the address of ${hostId} is not of the form http://<IP address>:<port>`;
      throw new AppError('invalid', message);
    }
    const note = (db: Queryable) => noteLaunched(db, { hostId, runtimeId, address });
    const noted = await (lease === undefined
      ? note(parts.db)
      : underLease(parts.db, lease).transaction(note));
    if (noted === undefined) {
      throw new AppError('not_found', `there is no live host "${hostId}"`);
    }
    const { sessionId } = noted;
    parts.notices.tell(poolTopic, ...(sessionId === null ? [] : [routeTopic(sessionId)]));
    // A host that reported warm before its address was known can be claimed from now on.
    await placeWarm(parts, hostId);
    return respond(200, {});
  });
