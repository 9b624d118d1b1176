/**
 * Loop in each control plane that advances dataset runs on worlds. It links and closes graded sessions, and opens
 * sessions for waiting items up to the run's concurrency. A session's idempotency key consists of the run, the item and
 * the attempt. If a control plane dies after it opened a session, another one therefore finds that session. While no
 * run is active, the loop waits for a notification, which the replica that starts a run sends to all replicas.
 */
import { AppError, describeError } from '#domain/error.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import { openSession } from '#wire/public-api/operations.ts';
import type { KeptOpen } from '../../base/bodies/keep.ts';
import {
  assignSession,
  type ClaimedWorldRun,
  claimWorldRun,
  msUntilDue,
  nextWaiting,
  releaseWorldRun,
  renewWorldRun,
  retryRollout,
  setRollout,
  type WaitingRollout,
} from '../../db/evaluation/dataset-world-runs.ts';
import type { Parts } from '../../parts.ts';
import { nudgeOn } from '../../platform/notifications/claim-loop.ts';
import { datasetRunsTopic } from '../../platform/notifications/notifications.ts';
import { open } from '../../sessions/lifecycle/open.ts';
import { closeForRun, settleOpen } from './settle.ts';

/** Interval of the regular check, in milliseconds, in case a notification was lost. */
const lookEveryMs = 10_000;
/**
 * Delay until a run is advanced again, in milliseconds. It is short, because agents wait for sessions, and longer if
 * there was no capacity for a session.
 */
const afterMs = { usual: 500, noCapacity: 5_000 };
/** Maximum number of runs that one tick advances. */
const mostRuns = 50;
/** Maximum length of the error text stored for an item, in characters. */
const mostErrorChars = 2_000;

/** Builds the body of the request that opens a session for an item; throws `invalid` if the item's input is no task. */
const readOpen = async (
  { readBody }: Parts,
  { projectId, world, runId, buildHash, planned }: ClaimedWorldRun,
  { input }: WaitingRollout,
  signal: AbortSignal,
): Promise<KeptOpen> => {
  if (input === null)
    throw new AppError('invalid', 'the item has no input: its input must be a task');
  const run = buildHash === null ? {} : { run: { id: runId, buildHash, planned } };
  const open = JSON.stringify({ slug: world, ...run });
  const bytes = Buffer.from(`${open.slice(0, -1)},"task":${input}}`);
  const fairnessKey = async () => projectId;
  const body = { operation: openSession.id, fairnessKey, bytes, signal };
  const { problems, body: kept } = await readBody(body, { isKeyed: true, form: 'json' });
  const [first] = problems;
  if (first === undefined) return kept as KeptOpen;
  const place = ['input', ...first.path.slice(1)].join('.');
  throw new AppError('invalid', `the item's input is no task: ${place} ${first.message}`);
};

const waits = new Set<AppError['code']>(['exhausted', 'unavailable', 'timeout', 'internal']);

/** Opens a session for an item; returns false if there is no capacity for a session at present. */
const openOn = async (
  parts: Parts,
  worldRun: ClaimedWorldRun,
  rollout: WaitingRollout,
  signal: AbortSignal,
): Promise<boolean> => {
  const { runKey, projectId, runId: datasetRunId } = worldRun;
  const { itemKey, attempt } = rollout;
  try {
    const body = await readOpen(parts, worldRun, rollout, signal);
    const idempotencyKey = `dataset-run:${runKey}:${itemKey}:${attempt}`;
    const request = { projectId, body, idempotencyKey, datasetRunId, signal };
    const { session, isNew } = await open(parts, request);
    if (!isNew && session.endReason !== null) {
      await retryRollout(parts.db, { runKey, itemKey, attempt });
      return true;
    }
    const given = { runKey, itemKey, sessionId: session.id };
    if (!(await assignSession(parts.db, given))) await closeForRun(parts, projectId, session.id);
    return true;
  } catch (error) {
    if (!(error instanceof AppError) || waits.has(error.code)) {
      const isUsual = error instanceof AppError && error.code !== 'internal';
      const level = isUsual ? 'debug' : 'error';
      parts.log[level](
        { err: error, runKey },
        'postponed the opening of a session of a dataset run',
      );
      return false;
    }
    const text = describeError(error).slice(0, mostErrorChars);
    await setRollout(parts.db, {
      ...{ runKey, itemKey, from: 'WAITING', state: 'FAILED', sessionId: null },
      ...{ verdict: null, score: null, error: text },
    });
    return true;
  }
};

const advance = async (
  parts: Parts,
  worldRun: ClaimedWorldRun,
  signal: AbortSignal,
): Promise<void> => {
  await settleOpen(parts, worldRun);
  let hasCapacity = true;
  while (hasCapacity && !signal.aborted) {
    const next = await nextWaiting(parts.db, worldRun);
    if (next === undefined) break;
    await renewWorldRun(parts.db, worldRun.runKey);
    hasCapacity = await openOn(parts, worldRun, next, signal);
  }
  await releaseWorldRun(
    parts.db,
    worldRun.runKey,
    hasCapacity ? afterMs.usual : afterMs.noCapacity,
  );
};

const tick = async (parts: Parts, signal: AbortSignal): Promise<number> => {
  for (let runs = 0; runs < mostRuns; runs += 1) {
    const worldRun = signal.aborted ? undefined : await claimWorldRun(parts.db);
    if (worldRun === undefined) return runs;
    await advance(parts, worldRun, signal);
  }
  return mostRuns;
};

export type DatasetRuns = { loop: Loop<number>; stop(): Promise<void> };

/** Starts the loop. */
export const startDatasetRuns = (parts: Parts): DatasetRuns => {
  const { db, log, notifications } = parts;
  const stopping = new AbortController();
  let due: NodeJS.Timeout | undefined;
  const tickUntilDue = async (signal: AbortSignal): Promise<number> => {
    clearTimeout(due);
    const runs = await tick(parts, signal);
    const ms = await msUntilDue(db);
    if (ms !== undefined && ms < lookEveryMs) due = setTimeout(() => loop.nudge(), ms).unref();
    return runs;
  };
  const loop = startLoop({ name: 'dataset-runs', everyMs: lookEveryMs, log, tick: tickUntilDue });
  const nudging = nudgeOn(notifications, datasetRunsTopic, loop, stopping.signal);
  return {
    loop,
    async stop() {
      stopping.abort();
      await Promise.all([loop.stop(), nudging]);
      clearTimeout(due);
    },
  };
};
