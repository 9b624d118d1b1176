/**
 * Dataset runs on sessions of a world. The service opens a session on each item as its task, up to the run's
 * concurrency; the client that works in a session grades it. The trace of a graded session, which has the scores of
 * its grade, is then linked to the run, and the session is closed.
 */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { cleanText } from '#observability/read-value.ts';
import type { WorldRunBody } from '#wire/public-api/evaluation/dataset.ts';
import { hasBuild } from '../../db/evaluation/agent-builds.ts';
import {
  beginPlay,
  findPlay,
  listRollouts,
  type PlayRow,
  type RolloutPlace,
  type RolloutRow,
} from '../../db/evaluation/dataset-plays.ts';
import { putDatasetRun, type RunRow } from '../../db/evaluation/dataset-runs.ts';
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
export const viewPlay = ({ runKey: _, projectId: __, finishedAt, atOnce, ...play }: PlayRow) => ({
  ...play,
  concurrency: atOnce,
  finishedAt: finishedAt?.toISOString() ?? null,
});

/** Returns the client's view of an item of a dataset run on a world. */
export const viewRollout = ({ itemId, state, attempt, sessionId, ...rest }: RolloutRow) => ({
  ...{ datasetItemId: itemId, state, attempt, sessionId },
  ...{ verdict: rest.verdict, score: rest.score, error: rest.error, agent: rest.agent },
});

const getPlay = async (parts: Parts, run: RunRow): Promise<PlayRow> => {
  const play = await findPlay(parts.db, run.key);
  if (play !== undefined) return play;
  throw new AppError(
    'not_found',
    `the run "${run.name}" is not on a world: the client that runs its items links them`,
  );
};

const viewWhole = async (parts: Parts, dataset: DatasetRow, run: RunRow) => ({
  ...viewRun(run, dataset),
  worldRun: viewPlay(await getPlay(parts, run)),
});

/** Builds the refusal to continue a run with another world or build than it was started with. */
const differs = (
  name: string,
  known: PlayRow | undefined,
  { world, buildHash }: Pick<PlayRow, 'world' | 'buildHash'>,
): AppError => {
  if (known === undefined || known.world !== world)
    return new AppError('conflict', `the run "${name}" is on another world than "${world}"`);
  const has = known.buildHash === null ? 'no build' : `the build "${known.buildHash}"`;
  return new AppError(
    'conflict',
    `the run "${name}" has ${has}, not "${buildHash}"; give the run another name`,
  );
};

/**
 * Starts a run. If a run of this name exists, continues it with the items that are left or failed. Throws `not_found`
 * if the world or build does not exist, and `conflict` if the run has another world or build.
 */
export const startPlay = async (
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
    const play = { runKey: made.key, projectId, world, atOnce: concurrency, buildHash };
    if (await beginPlay(tx, { ...play, datasetKey: dataset.key })) return made;
    throw differs(runName, await findPlay(tx, made.key), play);
  });
  parts.notifications.tell(datasetRunsTopic);
  return viewWhole(parts, dataset, run);
};

/** Returns the progress of a run on a world; an empty object for other runs. */
export const describePlay = async (parts: Parts, dataset: DatasetRow, name: string) => {
  const play = await findPlay(parts.db, (await getRun(parts.db, dataset, name)).key);
  return play === undefined ? {} : { worldRun: viewPlay(play) };
};

/** Returns a page of the items of a run on a world. */
export const readRollouts = async (
  parts: Parts,
  run: RunRow,
  asked: { state: RolloutRow['state'] | null; after: RolloutPlace | undefined; limit: number },
): Promise<{ rows: RolloutRow[]; hasMore: boolean; play: PlayRow }> => {
  const play = await getPlay(parts, run);
  const found = await listRollouts(parts.db, run.key, { ...asked, limit: asked.limit + 1 });
  return { rows: found.slice(0, asked.limit), hasMore: found.length > asked.limit, play };
};

/** Stops a run on a world. */
export const stopRun = async (parts: Parts, dataset: DatasetRow, name: string) => {
  const run = await getRun(parts.db, dataset, name);
  await getPlay(parts, run);
  const play = { runKey: run.key, projectId: run.projectId };
  await stopOpen(parts, play, 'a client stopped the run');
  return viewWhole(parts, dataset, run);
};
