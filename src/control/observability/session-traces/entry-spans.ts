/**
 * Converts an entry of a session's ledger to an observation in the session's trace. An entry is a call, a request, a
 * delivery or a step of the browser. Input and output are those of the ledger, without secrets. Has no side effects.
 */
import { isObject, own } from '#domain/json.ts';
import type { Level, ObservationType } from '#observability/object.ts';
import { cleanText } from '#observability/read-value.ts';
import { readTraceParent } from '#observability/trace-parent.ts';
import type {
  TracedCall,
  TracedEntry,
  TracedSession,
  UnwrittenCall,
} from '../../db/observability/session-traces.ts';
import { answerEntriesOf } from '../../sessions/webhooks/ended-answers.ts';
import type { Report } from '../ingestion/fold.ts';
import { reportLink } from './session-span.ts';
import { lastHint, nameOf, type Precedence, ranked, stateOf } from './states.ts';

type Place = { traceId: string; parentId: string };

/**
 * Returns the trace and the parent for an entry: from the caller's `traceparent` if the caller sent one, else those of
 * the session.
 */
const placeOf = ({ id, traceId }: TracedSession, traceparent: string | null): Place => {
  const within = readTraceParent(traceparent);
  if (within === undefined) return { traceId, parentId: id };
  return { traceId: within.traceId, parentId: within.spanId };
};

/** Returns the id of the observation for an entry that is no call. */
const entryIdOf = (sessionId: string, id: number): string => `${sessionId}-${id}`;

const mostMessageChars = 2_000;

const typesOfCalls: Partial<Record<TracedCall['callKind'], ObservationType>> = {
  tool: 'TOOL',
  grade: 'EVALUATOR',
};

const bodyOf = (
  session: TracedSession,
  text: string | null,
  start: string | null,
  bytes: number,
): string | null => {
  if (text !== null) return text === 'null' ? null : text;
  const readAt = `/api/public/world-sessions/${session.id}/requests`;
  return JSON.stringify({ truncated: true, bytes, start, readAt });
};

/** Returns the metadata that all observations of a session have: the session's id. */
const commonOf = ({ id }: TracedSession): Record<string, unknown> => ({ worldSessionId: id });

const bodiesOf = (session: TracedSession, entry: TracedEntry) => ({
  input: bodyOf(session, entry.request, entry.requestStart, entry.requestBytes),
  output: bodyOf(session, entry.response, entry.responseStart, entry.responseBytes),
});

const changesOf = ({ changes }: TracedEntry): Record<string, unknown> =>
  changes === '{}' ? {} : { changes: JSON.parse(changes) };

const callNameOf = ({ callKind, callName }: TracedCall): string => nameOf(callName ?? callKind);

const levelOfCall = ({ callState }: TracedCall): Level | null => {
  if (callState === 'cancelled') return 'WARNING';
  return callState === 'lost' || callState === 'failed' ? 'ERROR' : null;
};

/** Returns a member of a JSON object; undefined if there is none. */
const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) ? own(value, name) : undefined;

/** Returns the error message of a failed call, from the ledger. */
const errorIn = ({ callState, response }: TracedEntry): string | null => {
  if (callState !== 'failed' || response === null) return null;
  const message = memberOf(memberOf(JSON.parse(response), 'error'), 'message');
  return typeof message === 'string' ? cleanText(message.slice(0, mostMessageChars)) : null;
};

/** Returns the header `traceparent` of an API request. */
const traceParentOf = ({ request }: TracedEntry): string | null => {
  if (request?.includes('"traceparent"') !== true) return null;
  const header = memberOf(memberOf(JSON.parse(request), 'headers'), 'traceparent');
  return typeof header === 'string' ? header : null;
};

type CallTimes = { beganMs: number; endMs: number };

/**
 * Adds a report that links the session to the caller's trace, if the call or request is in a trace other than the
 * session's.
 */
const withLink = (session: TracedSession, place: Place, report: Report): Report[] =>
  place.traceId === session.traceId ? [report] : [report, reportLink(session, place.traceId)];

const reportCallAs = (
  session: TracedSession,
  call: TracedCall,
  { beganMs, endMs }: CallTimes,
  more: {
    error: string | null;
    bodies: ReturnType<typeof bodiesOf> | null;
    metadata: Record<string, unknown>;
  },
): Report[] => {
  const place = placeOf(session, call.traceParent);
  const precedence: Precedence = { standing: 'create', ms: beganMs };
  const given = {
    type: typesOfCalls[call.callKind] ?? 'SPAN',
    name: callNameOf(call),
    parentId: place.parentId,
    endTime: endMs,
    level: levelOfCall(call),
    statusMessage: more.error,
    ...more.bodies,
  };
  const metadata = { ...commonOf(session), callState: call.callState, ...more.metadata };
  const state = stateOf({ beganMs, values: ranked(given, precedence), metadata }, precedence);
  const report: Report = { kind: 'observation', id: call.callId, traceId: place.traceId, state };
  return withLink(session, place, report);
};

/**
 * Reports a call without a ledger entry. Only ledger entries have input and output, so the report has neither, except
 * the outcome of a grade.
 */
export const reportUnwritten = (
  session: TracedSession,
  call: UnwrittenCall,
  outcome: string | null = null,
): Report[] => {
  const end = call.answeredAt ?? session.closedAt ?? call.queuedAt;
  const times = { beganMs: call.queuedAt.getTime(), endMs: end.getTime() };
  const error = call.error?.message ?? null;
  const bodies = outcome === null ? null : { input: null, output: outcome };
  return reportCallAs(session, call, times, { error, bodies, metadata: {} });
};

const reportCall = (session: TracedSession, entry: TracedEntry & TracedCall): Report[] => {
  const beganMs = entry.queuedAt.getTime();
  // A call whose host was lost has no answer time; its duration is in the ledger.
  const endMs = entry.answeredAt?.getTime() ?? beganMs + entry.durationMs;
  const metadata = { ...changesOf(entry), ranMs: entry.durationMs, entry: entry.id };
  const bodies = bodiesOf(session, entry);
  const more = { error: errorIn(entry), bodies, metadata };
  return reportCallAs(session, entry, { beganMs, endMs }, more);
};

const requestName = ({ operation, method, path, via }: TracedEntry): string => {
  if (via === 'webhook' || via === 'webhook-skipped') return nameOf(`webhook ${operation ?? ''}`);
  if (via === 'browser') return nameOf(`browser ${operation ?? ''}`);
  return nameOf(operation ?? `${method ?? ''} ${path ?? ''}`);
};

/** Returns the level of an observation for an HTTP status; null if there is no status or it is no error. */
const levelOfStatus = (status: number | null): Level | null => {
  if (status === null || (status >= 100 && status < 400)) return null;
  return status >= 400 && status < 500 ? 'WARNING' : 'ERROR';
};

const levelOfEntry = ({ via, status }: TracedEntry): Level | null =>
  via === 'webhook-skipped' ? 'WARNING' : levelOfStatus(status);

const typesByVia: Partial<Record<TracedEntry['via'], ObservationType>> = {
  browser: 'EVENT',
  'webhook-skipped': 'EVENT',
};

/**
 * Returns the trace and the parent for an entry. The parent of a delivery is the call that sent it, if that call is in
 * the session's own trace.
 */
const placeOfEntry = (session: TracedSession, entry: TracedEntry): Place => {
  if (entry.via === 'api' || entry.via === 'ui') return placeOf(session, traceParentOf(entry));
  if (entry.callId === null) return placeOf(session, null);
  const { traceId } = placeOf(session, entry.traceParent);
  const parentId = traceId === session.traceId ? entry.callId : session.id;
  return { traceId: session.traceId, parentId };
};

const reportRequest = (session: TracedSession, entry: TracedEntry): Report[] => {
  const { at, id, method, path, status, durationMs, via } = entry;
  const beganMs = at.getTime();
  const place = placeOfEntry(session, entry);
  const precedence: Precedence = { standing: 'create', ms: beganMs };
  const type = typesByVia[via] ?? 'SPAN';
  const given = {
    type,
    name: requestName(entry),
    parentId: place.parentId,
    // The end of a delivery comes with the entry of its answer.
    endTime: type === 'EVENT' || via === 'webhook' ? null : beganMs + durationMs,
    level: levelOfEntry(entry),
    ...bodiesOf(session, entry),
  };
  const request = method === null ? {} : { method, path, status };
  const metadata = { ...commonOf(session), via, ...request, ...changesOf(entry), entry: id };
  const state = stateOf({ beganMs, values: ranked(given, precedence), metadata }, precedence);
  const report: Report = {
    ...{ kind: 'observation', id: entryIdOf(session.id, id), traceId: place.traceId, state },
  };
  return withLink(session, place, report);
};

/** Reports the answer of a webhook's receiver, as an update of the observation of the delivery. */
const reportAnswer = (session: TracedSession, entry: TracedEntry, delivery: number): Report[] => {
  const endMs = entry.at.getTime();
  const precedence: Precedence = { standing: 'update', ms: endMs };
  const { output } = bodiesOf(session, entry);
  const values = {
    ...ranked({ type: 'SPAN', name: requestName(entry) }, lastHint),
    ...ranked({ endTime: endMs, level: levelOfStatus(entry.status), output }, precedence),
  };
  const metadata = { status: entry.status, answerEntry: entry.id };
  const state = stateOf({ beganMs: null, values, metadata }, precedence);
  const id = entryIdOf(session.id, delivery);
  return [{ kind: 'observation', id, traceId: session.traceId, state }];
};

const isCall = (entry: TracedEntry): entry is TracedEntry & TracedCall =>
  entry.callId !== null && (entry.via === 'tool' || entry.via === 'session');

/** Returns the reports for one entry. */
export const reportEntry = (session: TracedSession, entry: TracedEntry): Report[] => {
  if (isCall(entry)) return reportCall(session, entry);
  const [answered] = answerEntriesOf([{ ...entry, request: entry.request ?? 'null' }]);
  if (answered !== undefined) return reportAnswer(session, entry, answered.deliveryId);
  return reportRequest(session, entry);
};
