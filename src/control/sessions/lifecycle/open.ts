/**
 * Opens a session. Finds the version and checks the task and the surfaces; then one statement checks the project's
 * quotas, inserts the session and claims a warm host. A repeated `Idempotency-Key` returns the session that the first
 * request opened.
 */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import type { HostWish } from '#domain/pool.ts';
import type { BrowserTier, SurfaceKind } from '#domain/session.ts';
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
import { readClientColumns } from '../../db/sessions/session-row.ts';
import { findSessionByKey } from '../../db/sessions/sessions.ts';
import { poolTopic } from '../../platform/notifications/notifications.ts';
import type { Version } from '../../worlds/caches/versions.ts';
import type { SessionParts } from '../parts.ts';
import { joinRunOfSession } from './agent-run.ts';
import { resolveClock } from './clock.ts';
import { unsuitedError } from './no-suitable-pool.ts';
import { logOpened, type Opened, outcomeOf, refusalOf, traceOpen } from './report-open.ts';
import {
  findCachedHead,
  headAddressOf,
  invalid,
  type Resolved,
  resolveVersion,
} from './resolve.ts';
import { resolveTask } from './task.ts';
import { isUsable } from './view.ts';
import { awaitSession, awaitWatched, isSettled } from './wait.ts';

export type OpenRequest = {
  projectId: string;
  /** Id of the new session, if the caller chose one. */
  sessionId?: string | undefined;
  body: KeptOpen;
  idempotencyKey: string | undefined;
  /** Id of the test run or proof that opens the session. */
  runId?: string;
  /** Id of the dataset run that opens the session. */
  datasetRunId?: string;
  /** W3C `traceparent` of the request; absent if the request has none. */
  traceparent?: string | undefined;
  /** Aborts when the client disconnects. The check of the task then stops, and no session is opened. */
  signal?: AbortSignal;
};

/** Returns why sessions of a version cannot have the surface. A browser needs the surface "ui", which it displays. */
const lackOf = ({ surfaces }: Version, surface: SurfaceKind): string => {
  const known = surfaces.length === 0 ? 'it has none' : `it has ${surfaces.join(', ')}`;
  const wants = surface === 'browser' ? ' "ui" for a browser to show' : ` "${surface}"`;
  return `the world has no surface${wants}; ${known}`;
};

/**
 * Returns the surfaces of a session: those requested, the UI if a browser needs it, and the API if the world has one.
 */
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
    `this installation has no browsers for ${tier} sessions. Where svc runs them as processes, install Chromium (apt-get install chromium, or name one by SVC_CHROMIUM) and run svc up again; elsewhere add a pool with kind = "browser" to the file of pools`,
    { detail: { error: 'no_browser', browserTier: tier } },
  );

/** Throws `conflict` if the request asks for a browser and no pool has browsers. */
const checkBrowser = async (
  { db }: SessionParts,
  surfaces: readonly SurfaceKind[],
  tier: BrowserTier,
): Promise<void> => {
  if (surfaces.includes('browser') && !(await areBrowsersOffered(db, tier))) throw noBrowser(tier);
};

/**
 * Returns true if the browser's pictures are to be recorded. Throws `invalid` if a recording is requested without a
 * browser.
 */
const isRecorded = (
  { browserRecording = false }: KeptOpen,
  surfaces: readonly SurfaceKind[],
): boolean => {
  if (!browserRecording || surfaces.includes('browser')) return browserRecording;
  throw invalid(
    ['browserRecording'],
    'a recording needs a browser: request the surface "browser" as well',
  );
};

/** Returns the requirements of the session on its host. */
const wishOf = (body: KeptOpen, tier: BrowserTier): HostWish => {
  const { isolation, size } = readClientColumns(body);
  return { tier, isolation, size };
};

/**
 * Returns the trace to which the session reports: the trace of the request, or a new one. Sessions of test runs report
 * to no trace.
 */
const traceOf = (
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
    taskJson: task?.specJson ?? null,
    taskForm: task?.form ?? null,
    taskName: task?.name ?? null,
    taskHash: task?.hash ?? null,
    taskId: task?.id ?? null,
    taskVersion: task?.version ?? null,
    instruction: task?.instruction ?? null,
    taskTools: task?.tools ?? null,
    surfaces,
    isRecorded: isRecorded(body, surfaces),
    ...readClientColumns(body),
    tier,
    clock: JSON.stringify(clock),
    idempotencyKey: idempotencyKey ?? null,
    requestHash: body.hash,
    secretMark: parts.secrets.now().mark,
    runId: request.runId ?? null,
    datasetRunId: request.datasetRunId ?? null,
    agentRunId: null,
    buildId: null,
    ...traceOf(sessionId, request),
  };
};

/**
 * Returns the session that an earlier request with the same `Idempotency-Key` opened. Throws `conflict` if the body of
 * that request differed.
 */
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

/** Opens a session. Returns undefined if the version is no longer the world's head. */
const openNew = async (parts: SessionParts, wanted: NewSession): Promise<Opened | undefined> => {
  const opened = await openSession(parts.db, wanted, parts.config.quotas);
  const { session, refusal } = opened;
  if (refusal === 'outdated') return undefined;
  if (refusal === 'unsuited') throw unsuitedError(wanted, await listOffers(parts.db));
  if (session === undefined) throw quotaError(refusal);
  parts.admission.opened(wanted, session.hostId === null);
  parts.facts.note(session);
  const { start, orders } = opened;
  if (session.hostId === null) await parts.hostAssigner.assignSession(session.id);
  else parts.notifications.notifyHost(session.hostId, { orders }, poolTopic);
  if (wanted.surfaces.includes('browser')) await parts.browserAssigner.assign();
  return { session, isNew: true, start };
};

/** Opens the session; if the request names a run, as a rollout of that run. */
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
    // If the open was refused, no session was inserted. If the database's answer was lost, a session may exist; it
    // stays in its run.
    if (error instanceof AppError && error.code === 'exhausted')
      await leaveRun(parts.db, sessionId);
    throw error;
  }
};

/** Returns true for errors that the later of two concurrent requests with the same `Idempotency-Key` can get. */
const mayHaveOpened = (error: unknown): boolean =>
  violates(error, sessionKeyIndex) || (error instanceof AppError && error.code === 'exhausted');

/** Opens a session of a resolved version. Returns undefined if the version is no longer the world's head. */
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

/**
 * Opens with the cached head of the world, without a lookup. An outdated head may lack what the request needs. So if
 * the open is refused for any reason but `exhausted`, the head is looked up.
 */
const openFromCache = async (
  parts: SessionParts,
  request: OpenRequest,
  tier: BrowserTier,
): Promise<Opened | undefined> => {
  const address = headAddressOf(request.body);
  const known = address === undefined ? undefined : await findCachedHead(parts, request, address);
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
  const fromCache = await openFromCache(parts, request, tier);
  if (fromCache !== undefined) return fromCache;
  const opened = await openResolved(parts, request, await resolveVersion(parts, request), tier);
  if (opened === undefined)
    throw new Error(
      'the database did not insert a session of a version that had just been looked up',
    );
  return opened;
};

/** Opened session, and the admission's callback that records whether the session was served. */
type AdmittedOpen = { opened: Opened; end: (isServed: boolean) => void };

const openOnce = async (parts: SessionParts, request: OpenRequest): Promise<AdmittedOpen> => {
  const first = await findFirst(parts, request);
  if (first !== undefined) return { opened: first, end: () => {} };
  // Admission comes before all lookups, so that a refusal under overload costs almost nothing.
  const tier = request.body.browserTier ?? (await parts.defaultTiers.of(request.projectId));
  const end = await parts.admission.enter(request.projectId, wishOf(request.body, tier));
  try {
    return { opened: await openAdmitted(parts, request, tier), end };
  } catch (error) {
    end(false);
    throw error;
  }
};

const openMeasured = async (parts: SessionParts, request: OpenRequest): Promise<AdmittedOpen> => {
  const { opens, claimSeconds } = parts.metrics;
  const beganAt = performance.now();
  const beganMs = Date.now();
  try {
    const admitted = await openOnce(parts, request);
    const { opened } = admitted;
    opens.inc({ outcome: outcomeOf(opened) });
    const { start } = opened;
    if (start !== undefined && start !== 'cold') {
      claimSeconds.observe({ start }, (performance.now() - beganAt) / 1_000);
    }
    traceOpen(parts, request.traceparent, opened, beganMs);
    if (opened.isNew) logOpened(parts, opened);
    return admitted;
  } catch (error) {
    opens.inc({ outcome: refusalOf(error) });
    throw error;
  }
};

/** Opens a session, or returns the session that an earlier request with the same `Idempotency-Key` opened. */
export const open = async (parts: SessionParts, request: OpenRequest): Promise<Opened> => {
  const { opened, end } = await openMeasured(parts, request);
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
  let end: AdmittedOpen['end'] = () => {};
  let isServed = false;
  try {
    const admitted = await openMeasured(parts, { ...request, sessionId });
    end = admitted.end;
    const { session: opened, isNew } = admitted.opened;
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

/**
 * Opens a session, and waits up to `seconds` until all its surfaces are ready or will never be. The open has priority
 * over telemetry ingestion.
 */
export const openAndWait: typeof openSettled = (parts, request, seconds) =>
  parts.openPriority.during(() => openSettled(parts, request, seconds));
