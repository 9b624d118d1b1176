/** Endpoints by which orchestrators observe and publish pools, acquire the lease, and run the reaper periodically. */
import * as api from '#wire/pool-api/operations.ts';
import { acquireLease, noteRefused, underLease } from '../../db/core/leases.ts';
import {
  findPoolsFile,
  findUnknownWorlds,
  keepPoolsFile,
  replacePools,
} from '../../db/sessions/pools.ts';
import { tidyUp } from '../../operations/maintenance.ts';
import type { Parts } from '../../parts.ts';
import { toMs } from '../../platform/notifications/held-requests.ts';
import { poolTopic } from '../../platform/notifications/notifications.ts';
import { observe } from '../../sessions/hosts/observe.ts';
import { reap } from '../../sessions/reaper.ts';
import { type Endpoint, endpoint, respond } from '../server/endpoint.ts';

export const poolsEndpoints = (parts: Parts): Endpoint[] => {
  const { db, log, notifications } = parts;
  return [
    endpoint(api.observePool, async ({ query }, { signal }) => {
      const { installation, after, hold, brief: isBrief = false } = query;
      const question = { installation, after, holdMs: toMs(hold), signal, isBrief };
      return respond(200, await observe(parts, question));
    }),

    endpoint(api.acquireLease, async ({ body }) => {
      const epoch = await acquireLease(db, body);
      return respond(200, epoch === undefined ? { held: false } : { held: true, epoch });
    }),

    endpoint(api.publishPools, async ({ body }) => {
      const { lease, installation, pools, refused, file } = body;
      if (await replacePools(underLease(db, lease), installation, pools))
        notifications.notify(poolTopic);
      if (file !== undefined) await keepPoolsFile(underLease(db, lease), installation, file);
      if (refused !== undefined) await noteRefused(db, installation, lease, refused);
      return respond(200, { unknownWorlds: await findUnknownWorlds(db, installation) });
    }),

    endpoint(api.readPoolsFile, async ({ query: { installation } }) =>
      respond(200, { file: (await findPoolsFile(db, installation)) ?? null }),
    ),

    endpoint(api.reap, async ({ body: { lease, ...limits } }) => {
      const ended = await reap({ ...parts, db: underLease(db, lease) }, limits);
      // Tidying is not urgent, and an unreachable store must not keep sessions alive.
      await tidyUp(parts).catch((error: unknown) => log.warn({ err: error }, 'tidying failed'));
      return respond(200, { ended });
    }),
  ];
};
