/**
 * Enqueues a call: checks that the world has the tool, and appends the call to the session's queue. If the host's poll
 * is held by this process, the call is handed directly to the host.
 */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { limits } from '#domain/limits.ts';
import { sessionTransitions } from '#domain/session.ts';
import { givesTool, withheldTool } from '#domain/task-tools.ts';
import { can } from '#domain/transitions.ts';
import { suggestName } from '#language/read/suggest.ts';
import { readTraceParent } from '#observability/trace-parent.ts';
import type { KeptCall } from '../../base/bodies/keep.ts';
import { quotaError } from '../../base/fairness/quotas.ts';
import { violates } from '../../db/core/errors.ts';
import {
  type CallRow,
  callKeyIndex,
  findCall,
  findCallByKey,
  findRefusal,
  isQueueFull,
  type NewCall,
} from '../../db/sessions/calls.ts';
import { notInState } from '../../db/sessions/ended-session.ts';
import { noSession } from '../../db/sessions/sessions.ts';
import type { SessionParts } from '../parts.ts';
import { toHostCall } from '../scheduling/waiting-hosts.ts';
import { awaitCall, type CallWait } from './wait.ts';

export type EnqueueRequest = {
  projectId: string;
  sessionId: string;
  body: KeptCall;
  idempotencyKey: string | undefined;
  /** W3C `traceparent` of the request; absent if the request has none. */
  traceparent?: string | undefined;
};

const invalidName = (message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path: ['name'], message }] });

const checkName = async (parts: SessionParts, request: EnqueueRequest): Promise<void> => {
  const { projectId, sessionId, body } = request;
  const facts = await parts.facts.get(projectId, sessionId);
  if (facts === undefined) throw noSession(sessionId);
  if (body.kind !== 'tool') {
    if (body.name === undefined) return;
    throw invalidName(`a call of kind "${body.kind}" has no name; only tools have`);
  }
  if (body.name === undefined) throw invalidName('name the tool to call');
  const version = await parts.versions.get(facts.versionId);
  const tools = version?.toolNames ?? new Set<string>();
  const { taskTools } = facts;
  if (!tools.has(body.name)) {
    const hint = suggestName(body.name, taskTools ?? tools) ?? 'there is none';
    throw invalidName(`the world has no tool "${body.name}"; ${hint}`);
  }
  if (taskTools === null || givesTool(taskTools, body.name)) return;
  throw new AppError('forbidden', withheldTool(body.name, taskTools), {
    detail: { tools: taskTools },
  });
};

const tryAgain = { detail: { retryAfterMs: 1_000 } };

/**
 * Builds the error for a refused call. The session's state is read after the refusal, and a slot may have become free
 * in between. So if the session is open and has a free slot, its queue must have been full when the call was refused.
 */
const refusal = async (
  { config, db }: SessionParts,
  request: Pick<EnqueueRequest, 'projectId' | 'sessionId'>,
): Promise<AppError> => {
  const { projectId, sessionId } = request;
  const found = await findRefusal(db, projectId, sessionId, config.quotas.queuedCalls);
  if (found === undefined) return noSession(sessionId);
  if (!can(sessionTransitions, found.state, 'CLOSING')) {
    return notInState(found, ' and takes no calls');
  }
  if (found.openCalls >= limits.queuedCalls) {
    const message = `${found.openCalls} calls of ${sessionId} are already queued, the maximum; wait for answers first`;
    return new AppError('exhausted', message, tryAgain);
  }
  if (isQueueFull(found)) {
    return quotaError({ quota: 'queued_calls', limit: found.projectMost, retryAfterMs: 1_000 });
  }
  const message = `too many calls of ${sessionId} or of its project were queued when this call arrived; try again`;
  return new AppError('exhausted', message, tryAgain);
};

/**
 * Inserts the call and passes it to its host, directly or through the queue. Returns undefined if the session refuses
 * the call.
 */
const insertAndHandOver = async (
  { callWrites, config, notifications, waitingHosts }: SessionParts,
  call: NewCall,
): Promise<CallRow | undefined> => {
  const handover = waitingHosts.reserve(call.sessionId);
  let row: CallRow | undefined;
  try {
    row = await callWrites.insert({ call, waiting: handover?.host }, config.quotas.queuedCalls);
  } finally {
    if (row?.state === 'claimed') handover?.give(toHostCall(row));
    else handover?.release();
  }
  if (row?.state === 'queued') notifications.notify(call.sessionId);
  return row;
};

const findFirst = async (
  { db }: SessionParts,
  { projectId, sessionId, body, idempotencyKey }: EnqueueRequest,
): Promise<CallRow | undefined> => {
  if (idempotencyKey === undefined) return undefined;
  const call = await findCallByKey(db, projectId, sessionId, idempotencyKey);
  if (call !== undefined && call.requestHash !== body.hash) {
    throw new AppError('conflict', `this Idempotency-Key made ${call.id} with another body`);
  }
  return call;
};

const insertOnce = async (
  parts: SessionParts,
  request: EnqueueRequest,
  call: NewCall,
): Promise<CallRow> => {
  try {
    const row = await insertAndHandOver(parts, call);
    if (row === undefined) throw await refusal(parts, request);
    return row;
  } catch (error) {
    if (!violates(error, callKeyIndex)) throw error;
    const winner = await findFirst(parts, request);
    if (winner === undefined) throw error;
    return winner;
  }
};

const toNewCall = (request: EnqueueRequest, id: string): NewCall => ({
  id,
  projectId: request.projectId,
  sessionId: request.sessionId,
  kind: request.body.kind,
  name: request.body.name ?? null,
  inputJson: request.body.inputJson,
  keepWarm: request.body.keepWarm,
  idempotencyKey: request.idempotencyKey ?? null,
  requestHash: request.body.hash,
  traceParent:
    readTraceParent(request.traceparent) === undefined ? null : (request.traceparent ?? null),
});

const outOfLimits =
  'redacting the rows exceeds the limits on time and memory; send fewer rows at once';

/** Returns the body to store. In the rows of a seed, credentials of the service are redacted. */
const redacted = async (
  { blobs, compiler, facts, versions }: SessionParts,
  { projectId, sessionId, body }: EnqueueRequest,
  signal: AbortSignal | undefined,
): Promise<KeptCall> => {
  if (body.redact === 'off') return body;
  const versionId = (await facts.get(projectId, sessionId))?.versionId;
  const version = versionId === undefined ? undefined : await versions.get(versionId);
  if (version === undefined) throw noSession(sessionId);
  const { bundle } = version;
  const world = { digest: bundle, project: projectId };
  const { inputJson, redact: mode } = body;
  const job = { kind: 'redact-seed', world, inputJson, mode } as const;
  const context = { project: projectId, signal, supply: () => blobs.get(bundle) };
  const seed = await compiler.run(job, context);
  if (seed.ok) return { ...body, inputJson: seed.inputJson };
  if (!('fields' in seed)) {
    throw new AppError('invalid', outOfLimits, {
      fields: [{ path: ['input', 'rows'], message: outOfLimits }],
    });
  }
  const { fields } = seed;
  throw new AppError('invalid', `the seed is refused: ${fields[0]?.message}`, { fields });
};

/** Waits for the end of a call that an earlier request with the same `Idempotency-Key` enqueued. */
const awaitOther = async (
  parts: SessionParts,
  request: EnqueueRequest,
  call: CallRow,
  wait: CallWait,
): Promise<CallRow> => {
  const { projectId, sessionId } = request;
  const watch = parts.notifications.watch(call.id);
  try {
    const ref = { projectId, sessionId, callId: call.id };
    const known = (await findCall(parts.db, ref)) ?? call;
    return await awaitCall(parts, watch, ref, known, wait);
  } finally {
    watch.end();
  }
};

/**
 * Call made by the control plane itself. Its input is not checked, and it does not count against the project's call
 * rate.
 */
export type OwnCall = {
  projectId: string;
  sessionId: string;
  kind: 'webhooks' | 'webhook-answers' | 'export';
  inputJson: string;
};

/**
 * Enqueues a call of the control plane and waits for its end. Throws the errors of `enqueue` if the session accepts no
 * calls.
 */
export const enqueueOwn = async (
  parts: SessionParts,
  { projectId, sessionId, kind, inputJson }: OwnCall,
  wait: CallWait,
): Promise<CallRow> => {
  const callId = newId('call');
  const watch = parts.notifications.watch(callId);
  try {
    const call = await insertAndHandOver(parts, {
      ...{ id: callId, projectId, sessionId, kind, inputJson, name: null },
      ...{ keepWarm: false, idempotencyKey: null, requestHash: null, traceParent: null },
    });
    if (call === undefined) throw await refusal(parts, { projectId, sessionId });
    return await awaitCall(parts, watch, { projectId, sessionId, callId }, call, wait);
  } finally {
    watch.end();
  }
};

/** Enqueues a call and, if requested, waits for its end. */
export const enqueue = async (
  parts: SessionParts,
  request: EnqueueRequest,
  wait: CallWait,
): Promise<CallRow> => {
  const { projectId, sessionId } = request;
  await checkName(parts, request);
  const first = await findFirst(parts, request);
  if (first !== undefined) return awaitOther(parts, request, first, wait);
  await parts.callRate.spend(projectId);
  const callId = newId('call');
  const watch = parts.notifications.watch(callId);
  try {
    const body = await redacted(parts, request, wait.signal);
    const call = await insertOnce(parts, request, toNewCall({ ...request, body }, callId));
    if (call.id !== callId) return await awaitOther(parts, request, call, wait);
    return await awaitCall(parts, watch, { projectId, sessionId, callId }, call, wait);
  } finally {
    watch.end();
  }
};
