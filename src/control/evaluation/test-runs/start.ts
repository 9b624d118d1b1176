/** Queues, awaits and finds test runs and proofs. `engine.ts` executes them. */
import { AppError } from '#domain/error.ts';
import { type RunKind, runLimits } from '#domain/run.ts';
import { violates } from '../../db/core/errors.ts';
import {
  findRun,
  findRunByKey,
  insertRun,
  type NewRun,
  newRun,
  type RunRequest,
  type RunRow,
  runKeyIndex,
} from '../../db/worlds/test-runs.ts';
import type { Parts } from '../../parts.ts';
import { holdUntil, toMs } from '../../platform/notifications/held-requests.ts';
import { runsTopic } from '../../platform/notifications/notifications.ts';

const findFirst = async ({ db }: Parts, run: NewRun): Promise<RunRow | undefined> => {
  if (run.idempotencyKey === null) return undefined;
  const first = await findRunByKey(db, run.projectId, run.idempotencyKey);
  if (first === undefined || first.requestHash === run.requestHash) return first;
  throw new AppError(
    'conflict',
    `this Idempotency-Key was already used for another request, which started ${first.id}: send a new key`,
  );
};

const tooMany = (): AppError => {
  const limit = runLimits.queued;
  const message = `${limit} runs of this project are already queued, the maximum; wait for one to finish, then start this one again`;
  return new AppError('exhausted', message, { detail: { limit, retryAfterMs: 5_000 } });
};

const insertOnce = async (parts: Parts, run: NewRun): Promise<string> => {
  const first = await findFirst(parts, run);
  if (first !== undefined) return first.id;
  try {
    if (!(await insertRun(parts.db, run))) throw tooMany();
    return run.id;
  } catch (error) {
    if (!violates(error, runKeyIndex)) throw error;
    const winner = await findFirst(parts, run);
    if (winner === undefined) throw error;
    return winner.id;
  }
};

/** Returns the run with this id; throws `not_found` if the project has no run of that kind with this id. */
export const getRun = async (
  { db }: Parts,
  projectId: string,
  kind: RunKind,
  id: string,
): Promise<RunRow> => {
  const run = await findRun(db, projectId, id);
  if (run?.kind === kind) return run;
  throw new AppError('not_found', `there is no run "${id}"`);
};

/** Queues a run; for a repeated request, returns the run of the first request. */
export const startRun = async (parts: Parts, request: RunRequest): Promise<RunRow> => {
  const run = newRun(request);
  const id = await insertOnce(parts, run);
  parts.notifications.notify(runsTopic);
  return getRun(parts, run.projectId, run.kind, id);
};

/** Returns the run once it has finished, or in its present state when the time is up. */
export const awaitRun = async (
  parts: Parts,
  { projectId, kind, id }: Pick<RunRow, 'projectId' | 'kind' | 'id'>,
  { seconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<RunRow> => {
  const look = async (): Promise<RunRow | undefined> => {
    const run = await getRun(parts, projectId, kind, id);
    return run.state === 'finished' ? run : undefined;
  };
  const hold = { topic: id, ms: toMs(seconds), signal, look };
  return (await holdUntil(parts.notifications, hold)) ?? getRun(parts, projectId, kind, id);
};
