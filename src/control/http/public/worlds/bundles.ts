/**
 * Endpoints of worlds and versions under their older names, container and bundle. They behave like the newer routes of
 * worlds and versions.
 */
import * as api from '#wire/public-api/operations.ts';
import { startWorldRun } from '../../../evaluation/dataset-runs/world-runs.ts';
import { getDataset } from '../../../evaluation/datasets/names.ts';
import type { Parts } from '../../../parts.ts';
import { resolveAddress } from '../../../worlds/versions/address.ts';
import { branchWorld } from '../../../worlds/versions/branch.ts';
import { onceOf } from '../../../worlds/versions/idempotency.ts';
import { pinLabel } from '../../../worlds/versions/labels.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { answerPush, readVersion, readVersions } from './versions.ts';
import { viewAddressed } from './worlds.ts';

export const bundleEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.getContainer, async ({ params }, { caller: { projectId } }) =>
    respond(200, await viewAddressed(parts, projectId, params.containerId)),
  ),

  endpoint(api.listBundles, async ({ params, query }, { caller: { projectId } }) =>
    respond(200, await readVersions(parts, projectId, params.containerId, query)),
  ),

  endpoint(api.getBundle, async ({ params }, { caller: { projectId } }) =>
    respond(200, await readVersion(parts, projectId, params.containerId, params.bundle)),
  ),

  endpoint(api.pushBundle, ({ params: { containerId }, body, headers }, { caller, signal }) => {
    const creator = { ...caller, once: onceOf(`pushBundle ${containerId}`, headers, body.hash) };
    return answerPush(parts, creator, { slug: containerId, body }, signal);
  }),

  endpoint(api.pinBundle, async ({ params, body }, { caller: { projectId } }) => {
    const place = { projectId, slug: params.containerId, label: body.label };
    return respond(200, await pinLabel(parts, place, body.bundle));
  }),

  endpoint(api.dispatchRun, async ({ params, body }, { caller: { projectId } }) => {
    const { dataset: name, bundle, ...how } = body;
    const { containerId } = params;
    const world = bundle === undefined ? containerId : `${containerId}@${bundle}`;
    await resolveAddress(parts, projectId, world);
    const dataset = await getDataset(parts.traces.db, projectId, name);
    return respond(202, await startWorldRun(parts, dataset, { world, ...how }));
  }),

  endpoint(api.branchContainer, async ({ params, body, headers }, { caller }) => {
    const { containerId: address } = params;
    const creator = { ...caller, once: onceOf(`branchContainer ${address}`, headers, body.hash) };
    const made = await branchWorld(parts, creator, { address, body });
    const view = await viewAddressed(parts, caller.projectId, `${made.worldId}@${made.versionId}`);
    return made.isNew ? respond(201, view) : respond(200, view);
  }),
];
