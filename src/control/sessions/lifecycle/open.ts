/**
 * Opens a session: finds the version, checks task and surfaces, then holds the project to its quotas,
 * writes the session and claims a warm host in one statement. A repeated `Idempotency-Key` finds the
 * session of the first request.
 */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { type HostWish, usualSize } from '#domain/pool.ts';
import type { BrowserTier, SessionStart, SurfaceKind } from '#domain/session.ts';
import { cleanText } from '#observability/read-value.ts';
import { readTraceParent } from '#observability/trace-parent.ts';
import { traceIdOf } from '#runtime/trace-steps.ts';
import { allOf } from '../../base/bodies/all-of.ts';
import type { KeptOpen } from '../../base/bodies/keep.ts';
import { quotaError } from '../../base/fairness/quotas.ts';
import { violates } from '../../db/core/errors.ts';
import { leaveRun } from '../../db/evaluation/agent-runs.ts';
import { type NewSession, openSession, sessionKeyIndex } from '../../db/sessions/assignment.ts';
import { areBrowsersOffered } from '../../db/sessions/browsers.ts';
import { listOffers } from '../../db/sessions/pools.ts';
import { findSessionByKey, type SessionRow } from '../../db/sessions/sessions.ts';
import { poolTopic } from '../../platform/notifications/notifications.ts';
import type { OpenOutcome } from '../../platform/telemetry/counters.ts';
import type { Version } from '../../worlds/caches/versions.ts';
import type { SessionParts } from '../parts.ts';
import { joinRunOfSession } from './agent-run.ts';
import { resolveClock } from './clock.ts';
import { unsuitedError } from './no-suitable-pool.ts';
import { headAddressOf, invalid, type Resolved, remembered, resolveVersion } from './resolve.ts';
import { resolveTask } from './task.ts';
import { isUsable } from './view.ts';
import { awaitSession, awaitWatched, isSettled } from './wait.ts';

export type OpenRequest = {
  projectId: string;
  /** Of the session that it opens, where the asker has chosen it. */
  sessionId?: string | undefined;
  body: KeptOpen;
  idempotencyKey: string | undefined;
  /** The run of tests, or the proof, that it is for. */
  runId?: string;
  /** The run of a dataset that it is for. */
  datasetRunId?: string;
  /** The W3C `traceparent` of who asks. */
  traceparent?: string | undefined;
  /** Aborts when the client is gone; its task is not checked further then, and nothing is opened. */
  signal?: AbortSignal;
};

export type Opened = {
  session: SessionRow;
  isNew: boolean;
  start?: SessionStart;
  /** When all that it needs was found, in Unix milliseconds. */
  resolvedMs?: number;
};

/** Why a session of a version can have no such surface. A browser shows what the surface "ui" serves. */
const lackOf = ({ surfaces }: Version, surface: SurfaceKind): string => {
  const known = surfaces.length === 0 ? 'it has none' : `it has ${surfaces.join(', ')}`;
  const wants = surface === 'browser' ? ' "ui" for a browser to show' : ` "${surface}"`;
  return `the world has no surface${wants}; ${known}`;
};

/** The surfaces that a session gets: those it asks for, the UI that its browser shows, and the API of a world that has one. */
const resolveSurfaces = (version: Version, wanted: readonly SurfaceKind[] = []): SurfaceKind[] => {
  const has = version.surfaces;
  const fields = [...wanted.entries()]
    .filter(([, surface]) => !has.includes(surface))
    .map(([index, surface]) => ({
      path: ['surfaces', String(index)],
      message: lackOf(version, surface),
    }));
  const [first] = fields;
  if (first !== undefined) throw new AppError('invalid', first.message, { fields });
  const implied = ['api', ...(wanted.includes('browser') ? ['ui'] : [])];
  return has.filter((surface) => implied.includes(surface) || wanted.includes(surface));
};

const noBrowser = (tier: BrowserTier): AppError =>
  new AppError(
    'conflict',
    `this installation has no browsers for ${tier} sessions. Where svc runs them as processes, install Chromium (apt-get install chromium, or name one by SVC_CHROMIUM) and start svc up again; elsewhere add a pool with kind = "browser" to the file of pools`,
    { detail: { error: 'no_browser', browserTier: tier } },
  );

/** Throws `conflict` where no browser can be had for a session that asks for one. */
const checkBrowser = async (
  { db }: SessionParts,
  surfaces: readonly SurfaceKind[],
  tier: BrowserTier,
): Promise<void> => {
  if (surfaces.includes('browser') && !(await areBrowsersOffered(db, tier))) throw noBrowser(tier);
};

/** Whether the browser is recorded. Throws `invalid` where that is asked for and there is to be none. */
const isRecorded = (
  { browserRecording = false }: KeptOpen,
  surfaces: readonly SurfaceKind[],
): boolean => {
  if (!browserRecording || surfaces.includes('browser')) return browserRecording;
  throw invalid(
    ['browserRecording'],
    'a recording is of the browser: ask for the surface "browser" as well',
  );
};

/** What is asked of the host. */
const wishOf = ({ isolation, size }: KeptOpen, tier: BrowserTier): HostWish => ({
  tier,
  isolation: isolation ?? null,
  size: size ?? usualSize,
});

/** The trace that it is told in: that of who asks, or its own. What runs of tests do is told in none. */
const toldIn = (
  sessionId: string,
  { body, runId, traceparent }: OpenRequest,
): Pick<NewSession, 'traceId' | 'traceParentId' | 'traceSessionId'> => {
  if (runId !== undefined) return { traceId: null, traceParentId: null, traceSessionId: null };
  const within = readTraceParent(traceparent);
  return {
    traceId: within?.traceId ?? traceIdOf(sessionId),
    traceParentId: within?.spanId ?? null,
    traceSessionId: body.traceSessionId === undefined ? null : cleanText(body.traceSessionId),
  };
};

const toNewSession = async (
  parts: SessionParts,
  request: OpenRequest,
  { version, headOf }: Resolved,
  tier: BrowserTier,
): Promise<NewSession> => {
  const { projectId, body, idempotencyKey, signal } = request;
  const [task, surfaces, clock] = await allOf(
    () => resolveTask(parts, version, body.task, signal),
    () => resolveSurfaces(version, body.surfaces),
    () => resolveClock(body.clock, new Date()),
  );
  await checkBrowser(parts, surfaces, tier);
  const sessionId = request.sessionId ?? newId('ses');
  return {
    id: sessionId,
    projectId,
    worldId: version.worldId,
    versionId: version.id,
    headOf,
    task: task?.specJson ?? null,
    taskForm: task?.form ?? null,
    taskName: task?.name ?? null,
    taskHash: task?.hash ?? null,
    taskId: task?.id ?? null,
    taskVersion: task?.version ?? null,
    instruction: task?.instruction ?? null,
    taskTools: task?.tools ?? null,
    surfaces,
    isRecorded: isRecorded(body, surfaces),
    ...wishOf(body, tier),
    reuseWarm: body.reuseWarm ?? false,
    clock: JSON.stringify(clock),
    seed: body.seed ?? null,
    idempotencyKey: idempotencyKey ?? null,
    requestHash: body.hash,
    secretMark: parts.secrets.now().mark,
    runId: request.runId ?? null,
    datasetRunId: request.datasetRunId ?? null,
    agentRunId: null,
    buildId: null,
    ...toldIn(sessionId, request),
  };
};

/** What an earlier request with the same key opened; `conflict` when it asked for something else. */
const findFirst = async (
  { db }: SessionParts,
  { projectId, body, idempotencyKey }: OpenRequest,
): Promise<Opened | undefined> => {
  if (idempotencyKey === undefined) return undefined;
  const session = await findSessionByKey(db, projectId, idempotencyKey);
  if (session === undefined) return undefined;
  if (session.requestHash !== body.hash) {
    throw new AppError('conflict', `this Idempotency-Key opened ${session.id} with another body`);
  }
  return { session, isNew: false };
};

/** Undefined where what it was resolved to is not so any more. */
const openNew = async (parts: SessionParts, wanted: NewSession): Promise<Opened | undefined> => {
  const opened = await openSession(parts.db, wanted, parts.config.quotas);
  const { session, refusal } = opened;
  if (refusal === 'outdated') return undefined;
  if (refusal === 'unsuited') throw unsuitedError(wanted, await listOffers(parts.db));
  if (session === undefined) throw quotaError(refusal);
  parts.admission.opened(wanted, session.hostId === null);
  parts.facts.note(session);
  const { start, orders } = opened;
  if (session.hostId === null) await parts.hostAssigner.placeSession(session.id);
  else parts.notifications.tellHost(session.hostId, { orders }, poolTopic);
  if (wanted.surfaces.includes('browser')) await parts.browserAssigner.place();
  return { session, isNew: true, start };
};

/** Opens it as a rollout of the run that it names, if it names one. */
const openInRun = async (
  parts: SessionParts,
  { body: { run } }: OpenRequest,
  wanted: NewSession,
): Promise<Opened | undefined> => {
  if (run === undefined) return openNew(parts, wanted);
  const { id: sessionId, projectId } = wanted;
  const joined = await joinRunOfSession(parts.db, { projectId, sessionId }, run);
  try {
    return await openNew(parts, { ...wanted, ...joined });
  } catch (error) {
    // A refusal wrote no session; where the answer was lost there may be one, which stays in its run.
    if (error instanceof AppError && error.code === 'exhausted')
      await leaveRun(parts.db, sessionId);
    throw error;
  }
};

/** What happens to the later of two requests with one key that came together. */
const mayHaveOpened = (error: unknown): boolean =>
  violates(error, sessionKeyIndex) || (error instanceof AppError && error.code === 'exhausted');

/** Opens what was resolved; undefined where that is not so any more. */
const openResolved = async (
  parts: SessionParts,
  request: OpenRequest,
  resolved: Resolved,
  tier: BrowserTier,
): Promise<Opened | undefined> => {
  const wanted = await toNewSession(parts, request, resolved, tier);
  try {
    const resolvedMs = Date.now();
    const opened = await openInRun(parts, request, wanted);
    return opened && { ...opened, resolvedMs };
  } catch (error) {
    if (!mayHaveOpened(error)) throw error;
    const winner = await findFirst(parts, request);
    if (winner === undefined) throw error;
    return winner;
  }
};

/** By what opens found last: a head that is no longer one may also lack what is asked for. */
const openByMemory = async (
  parts: SessionParts,
  request: OpenRequest,
  tier: BrowserTier,
): Promise<Opened | undefined> => {
  const address = headAddressOf(request.body);
  const known = address === undefined ? undefined : await remembered(parts, request, address);
  if (address === undefined || known === undefined) return undefined;
  try {
    const opened = await openResolved(parts, request, known, tier);
    if (opened !== undefined) return opened;
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'exhausted') throw error;
  }
  parts.worldLookup.forget(request.projectId, address);
  return undefined;
};

const openAdmitted = async (
  parts: SessionParts,
  request: OpenRequest,
  tier: BrowserTier,
): Promise<Opened> => {
  const byMemory = await openByMemory(parts, request, tier);
  if (byMemory !== undefined) return byMemory;
  const opened = await openResolved(parts, request, await resolveVersion(parts, request), tier);
  if (opened === undefined)
    throw new Error('a session of a head that was looked up was not written');
  return opened;
};

/** What was opened, and what says whether it was served once that is known. */
type UnderWay = { opened: Opened; end: (isServed: boolean) => void };

const openOnce = async (parts: SessionParts, request: OpenRequest): Promise<UnderWay> => {
  const first = await findFirst(parts, request);
  if (first !== undefined) return { opened: first, end: () => {} };
  // Before anything is looked up: where too much is asked for, a refusal costs next to nothing.
  const tier = request.body.browserTier ?? (await parts.defaultTiers.of(request.projectId));
  const end = await parts.admission.enter(request.projectId, wishOf(request.body, tier));
  try {
    return { opened: await openAdmitted(parts, request, tier), end };
  } catch (error) {
    end(false);
    throw error;
  }
};

const outcomeOf = ({ isNew, start }: Opened): OpenOutcome => {
  if (!isNew) return 'repeated';
  return start === 'cold' ? 'waiting' : 'claimed';
};

const refusalOf = (error: unknown): OpenOutcome => {
  if (!(error instanceof AppError) || error.code === 'unavailable') return 'failed';
  if (error.code !== 'exhausted') return 'refused';
  return error.detail.quota === undefined ? 'crowded' : 'quota';
};

const traceOpen = (
  { tracer }: SessionParts,
  { traceparent: causedBy }: OpenRequest,
  { session: { id }, resolvedMs, start }: Opened,
  beganMs: number,
): void => {
  if (resolvedMs === undefined || start === undefined) return;
  const endedMs = Date.now();
  tracer.add(id, { name: 'request', beganMs, endedMs, causedBy, attributes: { start } });
  tracer.add(id, { name: 'resolve', within: 'request', beganMs, endedMs: resolvedMs });
  tracer.add(id, { name: 'claim', within: 'request', beganMs: resolvedMs, endedMs });
};

const logOpened = ({ log }: SessionParts, { session, start }: Opened): void => {
  const { id: sessionId, hostId, versionId } = session;
  log.info({ sessionId, hostId, versionId, start }, 'session opened');
};

const openTold = async (parts: SessionParts, request: OpenRequest): Promise<UnderWay> => {
  const { opens, claimSeconds } = parts.metrics;
  const beganAt = performance.now();
  const beganMs = Date.now();
  try {
    const underWay = await openOnce(parts, request);
    const { opened } = underWay;
    opens.inc({ outcome: outcomeOf(opened) });
    const { start } = opened;
    if (start !== undefined && start !== 'cold') {
      claimSeconds.observe({ start }, (performance.now() - beganAt) / 1_000);
    }
    traceOpen(parts, request, opened, beganMs);
    if (opened.isNew) logOpened(parts, opened);
    return underWay;
  } catch (error) {
    opens.inc({ outcome: refusalOf(error) });
    throw error;
  }
};

/** Opens a session, or finds the one that this request has opened before. */
export const open = async (parts: SessionParts, request: OpenRequest): Promise<Opened> => {
  const { opened, end } = await openTold(parts, request);
  end(true);
  return opened;
};

const openSettled = async (
  parts: SessionParts,
  request: OpenRequest & { signal: AbortSignal },
  seconds: number | undefined,
): Promise<Pick<Opened, 'session' | 'isNew'>> => {
  if (!seconds) return open(parts, request);
  const { projectId, signal } = request;
  const sessionId = newId('ses');
  const wait = { projectId, seconds, signal, until: isSettled };
  const watch = parts.notifications.watch(sessionId);
  let end: UnderWay['end'] = () => {};
  let isServed = false;
  try {
    const underWay = await openTold(parts, { ...request, sessionId });
    end = underWay.end;
    const { session: opened, isNew } = underWay.opened;
    const session = isNew
      ? await awaitWatched(parts, watch, opened, { ...wait, sessionId })
      : await awaitSession(parts, { ...wait, sessionId: opened.id });
    isServed = isUsable(session);
    return { session, isNew };
  } finally {
    watch.end();
    end(isServed);
  }
};

/** Opens a session and waits until it is settled, for so many seconds at most. It goes before what agents tell. */
export const openAndWait: typeof openSettled = (parts, request, seconds) =>
  parts.openPriority.during(() => openSettled(parts, request, seconds));
