/** Endpoints of the admin API, which operators call below `/api/admin`. */
import * as api from '#wire/admin-api/operations.ts';
import { listHosts, listPools } from '../../db/operations/installation.ts';
import { readLoad } from '../../db/sessions/load.ts';
import { listImportJobs } from '../../db/worlds/import-jobs.ts';
import { previewCollection } from '../../operations/collection.ts';
import { examine } from '../../operations/doctor/doctor.ts';
import { drain } from '../../operations/drain.ts';
import type { Parts } from '../../parts.ts';
import { findDamaged } from '../../worlds/versions/damaged.ts';
import { type Endpoint, endpoint, respond } from '../server/endpoint.ts';
import { organizationEndpoints } from './organizations.ts';

/**
 * Limits of one request that checks blobs: bytes read, and time. They let the request end within a few seconds even if
 * the store is slow.
 */
const blobBounds = { mostBytes: 256 * 2 ** 20, mostMs: 5_000 };

/** Maximum number of hosts in a list if the request names no limit. */
const usualLimit = 1_000;

export const adminEndpoints = (parts: Parts): Endpoint[] => [
  ...organizationEndpoints(parts),

  endpoint(api.listPools, async () => {
    const [pools, load] = await Promise.all([listPools(parts.db), readLoad(parts.db)]);
    const { waiting: waitingSessions, longestWaitMs } = load;
    return respond(200, { pools, waitingSessions, longestWaitMs });
  }),

  endpoint(api.listHosts, async ({ query: { limit, ...filter } }) =>
    respond(200, await listHosts(parts.db, filter, limit ?? usualLimit)),
  ),

  endpoint(api.listImports, async () => respond(200, await listImportJobs(parts.db))),

  endpoint(api.drainHosts, async ({ body }) => {
    const outcome = await drain(parts, body);
    parts.log.info({ ...body, drained: outcome.drained }, 'drained by an operator');
    return respond(200, outcome);
  }),

  endpoint(api.examine, async () => respond(200, { checks: await examine(parts) })),

  endpoint(api.previewCollection, async () => respond(200, await previewCollection(parts))),

  endpoint(api.checkBlobs, async ({ query: { after = null } }) => {
    const damage = await findDamaged(parts, { after, ...blobBounds });
    return respond(200, { ...damage, place: parts.blobs.location });
  }),
];
