/**
 * Executes one claimed test run or proof with the steps that a client would take: it opens a session, enqueues the call
 * and awaits it, stores the answer, and closes the session. The session and the call have idempotency keys derived from
 * the run, so that a worker that takes the run over finds both. If the session is lost, a new one is opened once. If a
 * step is refused temporarily, the run is queued again.
 */
import type { CallError, CallKind } from '#domain/call.ts';
import { AppError } from '#domain/error.ts';
import { type RunKind, runLimits } from '#domain/run.ts';
import { sessionTransitions } from '#domain/session.ts';
import { isFinal } from '#domain/transitions.ts';
import { pause } from '#runtime/pause.ts';
import type { KeptCall, KeptOpen } from '../../base/bodies/keep.ts';
import { type CallRow, findCallByKey } from '../../db/sessions/calls.ts';
import type { SessionRow } from '../../db/sessions/session-row.ts';
import {
  type ClaimedRun,
  finishRun,
  type RunEnd,
  type RunTask,
  releaseRun,
  renewRun,
  requeueRun,
  trimRuns,
} from '../../db/worlds/test-runs.ts';
import type { Parts } from '../../parts.ts';
import { enqueue } from '../../sessions/calls/enqueue.ts';
import { isOver } from '../../sessions/calls/wait.ts';
import { closeAndWait } from '../../sessions/lifecycle/close.ts';
import { openAndWait } from '../../sessions/lifecycle/open.ts';
import { isSettled } from '../../sessions/lifecycle/wait.ts';
import { failedWith, readEnd } from './read-end.ts';
import { readTestFiles } from './test-files.ts';

/** Interval of lease renewals, in milliseconds. */
const renewMs = 5_000;
/** Maximum duration of one wait for a session or an answer, in milliseconds; waits are repeated. */
const waitMs = 20_000;
/** Maximum number of sessions that a run may lose, and of attempts that may fail because of a fault of the service. */
const mostLost = 1;
const mostAttempts = 3;
/** Minimum and maximum delay of a run that was refused temporarily, in milliseconds. */
const restMs = { least: 1_000, most: 60_000 };

/** Thrown to release the run, because another worker has taken it over or the program stops. */
class Interrupted extends Error {}

type Job = {
  parts: Parts;
  run: ClaimedRun;
  /** Aborts when this worker has lost the run, or the program stops. */
  signal: AbortSignal;
  /**
   * Session on which the run is executed (null before there is one), and the number of sessions that the run has lost.
   */
  at: { sessionId: string | null; sessions: number };
};

/** Throws if this worker must stop executing the run, or if the run takes too long. */
const checkGoesOn = ({ parts, run, signal }: Job): void => {
  if (signal.aborted || parts.notifications.closed) throw new Interrupted();
  const tookMs = Date.now() - run.startedAt.getTime();
  if (tookMs <= runLimits.runningMs) return;
  throw new AppError(
    'conflict',
    `the run did not finish within ${runLimits.runningMs / 60_000} min`,
  );
};

/** Returns the idempotency key of the run's session and call. Every worker derives the same key. */
const keyOf = ({ run, at }: Job): string => `${run.id}/${at.sessions}`;

const callKinds = { tests: 'test', proof: 'prove' } as const satisfies Record<RunKind, CallKind>;

const openBody = ({ run }: Job): KeptOpen => {
  const task = run.taskJson === null ? undefined : (JSON.parse(run.taskJson) as RunTask);
  return {
    versionId: run.versionId,
    ...(task === undefined ? {} : { task: 'name' in task ? task.name : task }),
    reuseWarm: true,
    hash: run.id,
  };
};

/** Returns the input of the call; tests of a world are read from the files of its version. */
const inputOf = async ({ parts, run }: Job): Promise<string> => {
  if (run.kind !== 'tests') return run.inputJson;
  return JSON.stringify({ files: await readTestFiles(parts, run.versionId) });
};

const callBody = async (job: Job): Promise<KeptCall> => ({
  kind: callKinds[job.run.kind],
  inputJson: await inputOf(job),
  redact: 'off',
  keepWarm: false,
  hash: job.run.id,
});

/** Returns the session of the run once the session is ready or over. */
const openSession = async (job: Job): Promise<SessionRow> => {
  const { parts, run, signal } = job;
  const { id: runId, projectId } = run;
  for (;;) {
    checkGoesOn(job);
    const request = { projectId, runId, body: openBody(job), idempotencyKey: keyOf(job), signal };
    const { session } = await openAndWait(parts, request, waitMs / 1_000);
    job.at.sessionId = session.id;
    if (isSettled(session)) return session;
  }
};

/** Returns the run's call once the call has ended; undefined if the session ended before there was a call. */
const callIn = async (job: Job, session: SessionRow): Promise<CallRow | undefined> => {
  const { parts, run, signal } = job;
  const of = { projectId: run.projectId, sessionId: session.id };
  if (isFinal(sessionTransitions, session.state)) {
    return findCallByKey(parts.db, run.projectId, session.id, keyOf(job));
  }
  const request = { ...of, body: await callBody(job), idempotencyKey: keyOf(job) };
  for (;;) {
    checkGoesOn(job);
    const call = await enqueue(parts, request, { ms: waitMs, signal });
    if (isOver(call)) return call;
  }
};

const lostBy = (session: SessionRow, call: CallRow | undefined): RunEnd => {
  if (call?.errorJson) {
    const { code, message } = JSON.parse(call.errorJson) as CallError;
    return failedWith(code, message);
  }
  if (session.error !== null) return failedWith(session.error.code, session.error.message);
  const message = `the session ${session.id} of the run ended (${session.endReason ?? call?.state}) before the run finished`;
  return failedWith(session.endReason ?? 'session_ended', message);
};

const execute = async (job: Job): Promise<RunEnd> => {
  for (;;) {
    const session = await openSession(job);
    const call = await callIn(job, session);
    const end = call === undefined ? undefined : readEnd(call);
    if (end !== undefined) return end;
    if (job.at.sessions >= mostLost) return lostBy(session, call);
    job.at.sessions += 1;
  }
};

/** Renews the lease until `end` is called. The returned signal aborts if the lease is lost or the program stops. */
const keepLease = (parts: Parts, run: ClaimedRun, at: Job['at'], stopping: AbortSignal) => {
  const lost = new AbortController();
  const ended = new AbortController();
  const renew = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await pause(renewMs, ended.signal);
      if (ended.signal.aborted) return;
      try {
        if (!(await renewRun(parts.db, run, at))) lost.abort();
      } catch (err) {
        parts.log.warn({ err, run: run.id }, 'the lease of a run was not renewed');
      }
    }
  };
  const renewing = renew();
  return {
    signal: AbortSignal.any([lost.signal, stopping]),
    async end() {
      ended.abort();
      await renewing;
    },
  };
};

const passing: readonly string[] = ['exhausted', 'unavailable', 'timeout'];

const clampRest = (ms: unknown): number =>
  Math.min(Math.max(typeof ms === 'number' ? ms : 0, restMs.least), restMs.most);

/** Returns what follows from an error: the end of the run, or the delay before the next attempt. */
const afterError = (
  run: ClaimedRun,
  error: unknown,
): { end: RunEnd } | { attempts: number; afterMs: number } => {
  const isKnown = error instanceof AppError && error.code !== 'internal';
  if (!isKnown) {
    const attempts = run.attempts + 1;
    if (attempts < mostAttempts) return { attempts, afterMs: attempts * restMs.least };
    return {
      end: failedWith('internal', 'the service failed to execute the run; its log has the cause'),
    };
  }
  const waitedMs = Date.now() - run.queuedAt.getTime();
  const mayPass = passing.includes(error.code) && waitedMs < runLimits.totalMs;
  if (!mayPass) return { end: failedWith(error.code, error.message) };
  return { attempts: run.attempts, afterMs: clampRest(error.detail.retryAfterMs) };
};

/**
 * Closes the session of the run. If closing fails, the periodic cleanup closes it later (`operations/maintenance.ts`).
 */
const closeSession = async ({ parts, run, at, signal }: Job): Promise<void> => {
  if (at.sessionId === null) return;
  const wait = { projectId: run.projectId, sessionId: at.sessionId, seconds: 0, signal };
  try {
    await closeAndWait(parts, wait, true);
  } catch (err) {
    parts.log.warn(
      { err, run: run.id, sessionId: at.sessionId },
      'failed to close the session of a run; the cleanup closes it',
    );
  }
};

const finish = async (job: Job, end: RunEnd): Promise<void> => {
  const { parts, run } = job;
  await renewRun(parts.db, run, job.at);
  if (!(await finishRun(parts.db, run, end))) return;
  parts.log.info({ run: run.id, kind: run.kind, outcome: end.outcome }, 'run finished');
  parts.notifications.notify(run.id);
  await closeSession(job);
  await trimRuns(parts.db, run.worldId, run.kind);
};

const resolve = async (job: Job, error: unknown): Promise<void> => {
  const { parts, run } = job;
  if (error instanceof Interrupted || job.signal.aborted) return releaseRun(parts.db, run);
  parts.log.info({ err: error, run: run.id }, 'a run was refused');
  const next = afterError(run, error);
  return 'end' in next ? finish(job, next.end) : requeueRun(parts.db, run, next);
};

/** Executes a run until it has finished, is queued again, or is released to another worker. */
export const carryOut = async (
  parts: Parts,
  run: ClaimedRun,
  stopping: AbortSignal,
): Promise<void> => {
  const at = { sessionId: run.sessionId, sessions: run.sessions };
  const lease = keepLease(parts, run, at, stopping);
  const job = { parts, run, signal: lease.signal, at };
  try {
    await finish(job, await execute(job));
  } catch (error) {
    await resolve(job, error);
  } finally {
    await lease.end();
  }
};
