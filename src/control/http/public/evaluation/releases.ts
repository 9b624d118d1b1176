/** Endpoints of builds of agents, their labels, the release gate, and agent runs. */
import { AppError } from '#domain/error.ts';
import * as api from '#wire/public-api/operations.ts';
import type { Database } from '../../../db/core/database.ts';
import { listBuilds } from '../../../db/evaluation/agent-builds.ts';
import { listMoves } from '../../../db/evaluation/agent-labels.ts';
import { findRun, finishRun, listRuns } from '../../../db/evaluation/agent-runs.ts';
import { diff, getBuild, register, resolve } from '../../../evaluation/releases/builds.ts';
import { compare } from '../../../evaluation/releases/compare.ts';
import { findNamed, readGate } from '../../../evaluation/releases/gate.ts';
import { moveLabel } from '../../../evaluation/releases/labels.ts';
import { viewBuild, viewListed, viewMove, viewRun } from '../../../evaluation/releases/view.ts';
import type { Parts } from '../../../parts.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { type CursorForm, isWhole, openPage } from '../../server/paging.ts';

/** Cursor into lists of numbered rows, newest first. */
const byNumber: CursorForm<{ number: number }> = {
  write: ({ number }) => [number],
  read: ([number]) => (isWhole(number) ? { number } : undefined),
};

const buildEndpoints = (parts: Parts, { db } = parts): Endpoint[] => [
  endpoint(api.registerBuild, async ({ body }, { caller: { projectId } }) => {
    const { build, isNew } = await register(db, projectId, body);
    return respond(isNew ? 201 : 200, viewBuild(build));
  }),

  endpoint(api.listBuilds, async ({ query }, { caller: { projectId } }) => {
    const { range, metaOf } = openPage(query, byNumber);
    const read = await listBuilds(db, projectId, query.agentId, range);
    return respond(200, { data: read.rows.map(viewListed), meta: metaOf(read) });
  }),

  endpoint(api.getBuild, async ({ params: { buildId } }, { caller: { projectId } }) =>
    respond(200, viewBuild(await getBuild(db, projectId, buildId))),
  ),

  endpoint(api.resolveBuild, async ({ query }, { caller: { projectId } }) =>
    respond(200, viewBuild(await resolve(db, projectId, query))),
  ),

  endpoint(api.diffBuilds, async ({ query }, { caller: { projectId } }) =>
    respond(200, await diff(db, projectId, query)),
  ),

  endpoint(api.compareBuilds, async ({ query }, { caller: { projectId } }) =>
    respond(200, await compare(parts, projectId, query)),
  ),

  endpoint(api.moveLabel, async ({ params: { buildId }, body }, { caller }) => {
    const { moved, ...move } = await moveLabel(db, caller, buildId, body);
    return respond(200, { ...viewMove(move), moved });
  }),

  endpoint(api.listLabelMoves, async ({ params, query }, { caller: { projectId } }) => {
    const { id } = await getBuild(db, projectId, params.buildId);
    const { range, metaOf } = openPage(query, byNumber);
    const read = await listMoves(db, id, range);
    return respond(200, { data: read.rows.map(viewMove), meta: metaOf(read) });
  }),
];

const gateEndpoints = ({ db, config: usual }: Parts): Endpoint[] => [
  endpoint(api.getGate, async ({ params: { buildId } }, { caller: { projectId } }) =>
    respond(200, await readGate(db, projectId, usual, await getBuild(db, projectId, buildId))),
  ),

  endpoint(api.findGate, async ({ query }, { caller: { projectId } }) =>
    respond(200, await readGate(db, projectId, usual, await findNamed(db, projectId, query))),
  ),
];

const getRun = async (db: Database, projectId: string, id: string) => {
  const run = await findRun(db, projectId, id);
  if (run !== undefined) return viewRun(run);
  throw new AppError('not_found', `there is no run "${id}" of an agent build`);
};

const runEndpoints = ({ db }: Parts): Endpoint[] => [
  endpoint(api.listAgentRuns, async ({ query }, { caller: { projectId } }) => {
    const { range, metaOf } = openPage(query, byNumber);
    const read = await listRuns(db, projectId, query.buildId, range);
    return respond(200, { data: read.rows.map(viewRun), meta: metaOf(read) });
  }),

  endpoint(api.getAgentRun, async ({ params }, { caller: { projectId } }) =>
    respond(200, await getRun(db, projectId, params.agentRunId)),
  ),

  endpoint(api.finishAgentRun, async ({ params: { agentRunId } }, { caller: { projectId } }) => {
    await getRun(db, projectId, agentRunId);
    await finishRun(db, projectId, agentRunId);
    return respond(200, await getRun(db, projectId, agentRunId));
  }),
];

export const releaseEndpoints = (parts: Parts): Endpoint[] => [
  ...buildEndpoints(parts),
  ...gateEndpoints(parts),
  ...runEndpoints(parts),
];
