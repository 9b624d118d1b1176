/** Endpoints by which orchestrators register, launch, load, drain and remove hosts. */
import { AppError } from '#domain/error.ts';
import { readHostAddress } from '#domain/host-address.ts';
import { newId } from '#domain/id.ts';
import * as api from '#wire/pool-api/operations.ts';
import type { Queryable } from '../../db/core/database.ts';
import { underLease } from '../../db/core/leases.ts';
import { beginLoad, insertHost, noteLaunched } from '../../db/sessions/hosts.ts';
import type { Parts } from '../../parts.ts';
import { poolTopic, routeTopic } from '../../platform/notifications/notifications.ts';
import { hostToken } from '../../platform/tokens/tokens.ts';
import { loseHost } from '../../sessions/hosts/lose.ts';
import { type Endpoint, endpoint, respond } from '../server/endpoint.ts';

const checkAddress = (hostId: string, address: string | null | undefined): void => {
  if (typeof address !== 'string' || readHostAddress(address) !== undefined) return;
  const message = `the address of ${hostId} is not of the form http://<IP address>:<port>`;
  throw new AppError('invalid', message);
};

export const hostEndpoints = (parts: Parts): Endpoint[] => {
  const { db, notifications, hostAssigner, secrets } = parts;
  return [
    endpoint(api.registerHost, async ({ body: { lease, ...host } }) => {
      const hostId = newId('hst');
      if (!(await insertHost(underLease(db, lease), { id: hostId, ...host }))) {
        const { installation, pool, maxLive } = host;
        const message = `pool ${installation}/${pool} has ${maxLive} live hosts already`;
        throw new AppError('exhausted', message, { detail: { full: 'pool' } });
      }
      notifications.notify(poolTopic);
      const token = hostToken(secrets.now().secret, hostId);
      return respond(201, { hostId, generation: 0, token });
    }),

    endpoint(api.reportLaunched, async ({ params: { hostId }, body }) => {
      const { lease, runtimeId, address } = body;
      checkAddress(hostId, address);
      const note = (tx: Queryable) => noteLaunched(tx, { hostId, runtimeId, address });
      const noted = await (lease === undefined
        ? note(db)
        : underLease(db, lease).transaction(note));
      if (noted === undefined) {
        throw new AppError('not_found', `there is no live host "${hostId}"`);
      }
      const { sessionId } = noted;
      notifications.notify(poolTopic, ...(sessionId === null ? [] : [routeTopic(sessionId)]));
      // A host that reported warm before its address was known can be claimed from now on.
      await hostAssigner.assignHost(hostId);
      return respond(200, {});
    }),

    endpoint(api.loadHost, async ({ params: { hostId }, body: { lease, versionId } }) => {
      const load = (tx: Queryable) => beginLoad(tx, hostId, versionId);
      if (!(await underLease(db, lease).transaction(load))) {
        const message = `${hostId} is no longer warm and empty, or there is no version "${versionId}"`;
        throw new AppError('conflict', message);
      }
      notifications.notify(hostId, poolTopic);
      return respond(200, {});
    }),

    endpoint(api.drainHost, async ({ params: { hostId }, body }) => {
      const { lease, reason, detail = null, output = null, ifState } = body;
      const leased = { ...parts, db: underLease(db, lease) };
      await loseHost(leased, { hostId, to: 'draining', reason, detail, output, ifState });
      return respond(200, {});
    }),

    endpoint(api.reportGone, async ({ params: { hostId }, body }) => {
      const { reason, detail = null, output = null, ledger } = body;
      await loseHost(parts, { hostId, to: 'gone', reason, detail, output, ledger });
      return respond(200, {});
    }),
  ];
};
