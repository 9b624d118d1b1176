/** Endpoints of proofs of tasks. */
import { AppError } from '#domain/error.ts';
import type { ProofRunDetail, ProveBody } from '#wire/public-api/evaluation/proof-operations.ts';
import * as api from '#wire/public-api/operations.ts';
import { hashOf } from '../../../base/json/canonical.ts';
import type { RunTask } from '../../../db/worlds/test-runs.ts';
import { awaitRun, getRun, startRun } from '../../../evaluation/test-runs/start.ts';
import { viewTestRunDetail } from '../../../evaluation/test-runs/view.ts';
import type { Parts } from '../../../parts.ts';
import { bundledSpec } from '../../../sessions/lifecycle/task.ts';
import type { Version } from '../../../worlds/caches/versions.ts';
import { getSpec } from '../../../worlds/tasks/stored.ts';
import {
  checkInUse,
  getVersionOf,
  getWorld,
  parseAddress,
} from '../../../worlds/versions/address.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

const kind = 'proof';
/** Maximum time for which a request is held until its proof ends, in seconds. */
const holdSeconds = 55;

/**
 * Returns the task in the form that its run needs: a stored task at its current version, or the name of a task of the
 * world. Throws `not_found` if it does not exist.
 */
const findTask = async (
  parts: Parts,
  version: Version,
  task: ProveBody['task'],
): Promise<RunTask> => {
  if (typeof task !== 'string') {
    const { id, version: number } = await getSpec(parts, version.projectId, task);
    return { id, version: number };
  }
  bundledSpec(version, task);
  return { name: task };
};

export const proofEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.proveTask, async ({ params, headers, body }, { caller, signal }) => {
    const { projectId, publicKey: author } = caller;
    const { slug, ref = 'latest' } = parseAddress(params.slug);
    const { wait = true, task: asked } = body;
    const world = await getWorld(parts, projectId, slug);
    checkInUse(world);
    const version = await getVersionOf(parts, world, ref);
    const task = await findTask(parts, version, asked);
    const idempotencyKey = headers['idempotency-key'];
    const requestHash =
      idempotencyKey === undefined
        ? null
        : hashOf({ operation: 'proveTask', ...params, task: asked });
    const request = { kind, origin: 'api', author, version, task, input: {} } as const;
    const run = await startRun(parts, { ...request, idempotencyKey, requestHash });
    const latest = wait ? await awaitRun(parts, run, { seconds: holdSeconds, signal }) : run;
    const view = (await viewTestRunDetail(parts, latest)) as ProofRunDetail;
    return latest.state === 'finished' ? respond(200, view) : respond(202, view);
  }),

  endpoint(api.getProof, async ({ params, query }, { caller: { projectId }, signal }) => {
    const { slug } = parseAddress(params.slug);
    const world = await getWorld(parts, projectId, slug);
    const run = await getRun(parts, projectId, kind, params.runId);
    if (run.worldId !== world.id) {
      throw new AppError('not_found', `world "${world.slug}" has no proof "${run.id}"`);
    }
    const wait = { seconds: query.wait ?? 0, signal };
    const latest = run.state === 'finished' ? run : await awaitRun(parts, run, wait);
    return respond(200, (await viewTestRunDetail(parts, latest)) as ProofRunDetail);
  }),
];
