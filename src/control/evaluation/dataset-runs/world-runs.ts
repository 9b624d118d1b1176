/**
 * Dataset runs on sessions of a world. The service opens a session for each item, whose input is the session's task, up
 * to the run's concurrency. The client that works in a session also grades it. The trace of a graded session, which has
 * the scores of its grade, is then linked to the run, and the session is closed.
 */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { cleanText } from '#observability/read-value.ts';
import type { WorldRunBody } from '#wire/public-api/evaluation/dataset.ts';
import { hasBuild } from '../../db/evaluation/agent-builds.ts';
import { putDatasetRun, type RunRow } from '../../db/evaluation/dataset-runs.ts';
import {
  beginWorldRun,
  findWorldRun,
  listRollouts,
  type RolloutPlace,
  type RolloutRow,
  type WorldRunRow,
} from '../../db/evaluation/dataset-world-runs.ts';
import type { DatasetRow } from '../../db/evaluation/datasets.ts';
import { keyOf } from '../../db/observability/trace-keys.ts';
import type { Parts } from '../../parts.ts';
import { readName } from '../../platform/lists/names.ts';
import { datasetRunsTopic } from '../../platform/notifications/notifications.ts';
import { noBuildOfHash } from '../../sessions/lifecycle/agent-run.ts';
import { resolveAddress } from '../../worlds/versions/address.ts';
import { getRun } from '../datasets/runs.ts';
import { viewRun } from '../datasets/view.ts';
import { stopOpen } from './settle.ts';

/** Returns the client's view of the progress of a dataset run on a world. */
export const viewWorldRun = ({
  runKey: _,
  projectId: __,
  finishedAt,
  atOnce,
  ...worldRun
}: WorldRunRow) => ({
  ...worldRun,
  concurrency: atOnce,
  finishedAt: finishedAt?.toISOString() ?? null,
});

/** Returns the client's view of an item of a dataset run on a world. */
export const viewRollout = ({ itemId, state, attempt, sessionId, ...rest }: RolloutRow) => ({
  ...{ datasetItemId: itemId, state, attempt, sessionId },
  ...{ verdict: rest.verdict, score: rest.score, error: rest.error, agent: rest.agent },
});

const getWorldRun = async (parts: Parts, run: RunRow): Promise<WorldRunRow> => {
  const worldRun = await findWorldRun(parts.db, run.key);
  if (worldRun !== undefined) return worldRun;
  throw new AppError(
    'not_found',
    `the run "${run.name}" is not a run on a world: its client runs the items and links them itself`,
  );
};

const viewWhole = async (parts: Parts, dataset: DatasetRow, run: RunRow) => ({
  ...viewRun(run, dataset),
  worldRun: viewWorldRun(await getWorldRun(parts, run)),
});

/** Builds the error for a request to continue a run with a world or build other than the one it was started with. */
const differs = (
  name: string,
  known: WorldRunRow | undefined,
  { world, buildHash }: Pick<WorldRunRow, 'world' | 'buildHash'>,
): AppError => {
  if (known === undefined || known.world !== world)
    return new AppError(
      'conflict',
      `the run "${name}" was started on another world, not on "${world}"; give the run another name`,
    );
  const has = known.buildHash === null ? 'no build' : `the build "${known.buildHash}"`;
  return new AppError(
    'conflict',
    `the run "${name}" has ${has}, not "${buildHash}"; give the run another name`,
  );
};

/**
 * Starts a run. If a run with this name exists, continues that run: it works on the items that are not done yet, and
 * tries failed items again. Throws `not_found` if the world or build does not exist, and `conflict` if the run has
 * another world or build.
 */
export const startWorldRun = async (
  parts: Parts,
  dataset: DatasetRow,
  { world, name, concurrency = 4, description, metadata, ...given }: WorldRunBody,
) => {
  const { projectId } = dataset;
  const buildHash = given.buildHash ?? null;
  const runName = readName('name', name ?? `${world} ${new Date().toISOString()}`);
  await resolveAddress(parts, projectId, world);
  if (buildHash !== null && !(await hasBuild(parts.db, projectId, buildHash))) {
    throw noBuildOfHash(buildHash);
  }
  const run = await parts.db.transaction(async (tx) => {
    const id = newId('dsr');
    const made = await putDatasetRun(tx, {
      ...{ key: keyOf(projectId, id), projectId, id, name: runName, datasetKey: dataset.key },
      description: description === undefined ? null : cleanText(description),
      metadata: metadata === undefined ? null : JSON.stringify(metadata),
    });
    const worldRun = { runKey: made.key, projectId, world, atOnce: concurrency, buildHash };
    if (await beginWorldRun(tx, { ...worldRun, datasetKey: dataset.key })) return made;
    throw differs(runName, await findWorldRun(tx, made.key), worldRun);
  });
  parts.notifications.notify(datasetRunsTopic);
  return viewWhole(parts, dataset, run);
};

/** Returns the progress of a run on a world; an empty object for runs that are not on a world. */
export const describeWorldRun = async (parts: Parts, dataset: DatasetRow, name: string) => {
  const worldRun = await findWorldRun(parts.db, (await getRun(parts.db, dataset, name)).key);
  return worldRun === undefined ? {} : { worldRun: viewWorldRun(worldRun) };
};

/** Returns a page of the items of a run on a world. */
export const readRollouts = async (
  parts: Parts,
  run: RunRow,
  asked: { state: RolloutRow['state'] | null; after: RolloutPlace | undefined; limit: number },
): Promise<{ rows: RolloutRow[]; hasMore: boolean; worldRun: WorldRunRow }> => {
  const worldRun = await getWorldRun(parts, run);
  const found = await listRollouts(parts.db, run.key, { ...asked, limit: asked.limit + 1 });
  return { rows: found.slice(0, asked.limit), hasMore: found.length > asked.limit, worldRun };
};

/** Stops a run on a world. */
export const stopRun = async (parts: Parts, dataset: DatasetRow, name: string) => {
  const run = await getRun(parts.db, dataset, name);
  await getWorldRun(parts, run);
  const worldRun = { runKey: run.key, projectId: run.projectId };
  await stopOpen(parts, worldRun, 'a client stopped the run');
  return viewWhole(parts, dataset, run);
};
