/** Endpoints of test runs. */
import { AppError } from '#domain/error.ts';
import * as api from '#wire/public-api/operations.ts';
import { hashOf } from '../../../base/json/canonical.ts';
import { listRuns } from '../../../db/worlds/test-runs.ts';
import { awaitRun, getRun, startRun } from '../../../evaluation/test-runs/start.ts';
import { viewTestRun, viewTestRunDetail } from '../../../evaluation/test-runs/view.ts';
import type { Parts } from '../../../parts.ts';
import {
  checkInUse,
  getVersionOf,
  getWorld,
  parseAddress,
} from '../../../worlds/versions/address.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { toMeta, toRange } from '../../server/paging.ts';

const kind = 'tests';
/** Maximum time for which a request is held until its test run ends, in seconds. */
const holdSeconds = 55;

export const testEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.listTestRuns, async ({ params, query }, { caller: { projectId } }) => {
    const { slug, ref } = parseAddress(params.slug);
    const world = await getWorld(parts, projectId, slug);
    const of =
      ref === undefined
        ? ({ of: 'world', id: world.id, kind } as const)
        : ({ of: 'version', id: (await getVersionOf(parts, world, ref)).id, kind } as const);
    const { rows, total } = await listRuns(parts.db, of, toRange(query));
    return respond(200, { data: rows.map(viewTestRun), meta: toMeta(query, total) });
  }),

  endpoint(api.runTests, async ({ params, headers, body = {} }, { caller, signal }) => {
    const { projectId, publicKey: author } = caller;
    const { slug, ref = 'latest' } = parseAddress(params.slug);
    const { wait = true, origin = 'api' } = body;
    const world = await getWorld(parts, projectId, slug);
    checkInUse(world);
    const version = await getVersionOf(parts, world, ref);
    const idempotencyKey = headers['idempotency-key'];
    const requestHash =
      idempotencyKey === undefined ? null : hashOf({ operation: 'runTests', ...params, origin });
    const request = { kind, origin, author, version, input: {}, idempotencyKey } as const;
    const run = await startRun(parts, { ...request, requestHash });
    const latest = wait ? await awaitRun(parts, run, { seconds: holdSeconds, signal }) : run;
    const view = await viewTestRunDetail(parts, latest);
    return latest.state === 'finished' ? respond(200, view) : respond(202, view);
  }),

  endpoint(api.getTestRun, async ({ params, query }, { caller: { projectId }, signal }) => {
    const { slug } = parseAddress(params.slug);
    const world = await getWorld(parts, projectId, slug);
    const run = await getRun(parts, projectId, kind, params.runId);
    if (run.worldId !== world.id) {
      throw new AppError('not_found', `world "${world.slug}" has no run "${run.id}"`);
    }
    const wait = { seconds: query.wait ?? 0, signal };
    const latest = run.state === 'finished' ? run : await awaitRun(parts, run, wait);
    return respond(200, await viewTestRunDetail(parts, latest));
  }),
];
