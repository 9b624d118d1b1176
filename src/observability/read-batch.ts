/**
 * Reads a batch of ingestion events. Each event is validated individually: an invalid event gets its own problem and
 * does not affect the other events. Unknown members are ignored everywhere.
 */
import { isObject } from '#domain/json.ts';
import { parseTimeUs } from './iso-time.ts';
import type { ObservationType } from './object.ts';
import {
  type EventOrigin,
  readObservation,
  readObservationIds,
  readTrace,
  readType,
} from './read-object.ts';
import { readScore } from './read-score.ts';
import { type Body, Misfit, readId, textLimits } from './read-value.ts';
import type { GivenScore } from './score.ts';
import type { State } from './state.ts';

/** Content of a valid event. If a trace or an observation has no id, it gets one when the event is stored. */
export type EventContent =
  | { kind: 'trace'; id: string | null; state: State }
  | { kind: 'observation'; id: string | null; traceId: string | null; state: State }
  | { kind: 'score'; score: GivenScore; timeUs: number }
  | { kind: 'log' };

/** Reason why an event was refused. */
export type EventProblem = { status: 400 | 401 | 404; message: string; error: string };

export type ReadEvent =
  | { id: string; content: EventContent }
  | { id: string; problem: EventProblem };

const created: Readonly<Record<string, ObservationType>> = {
  'span-create': 'SPAN',
  'generation-create': 'GENERATION',
  'event-create': 'EVENT',
  'agent-create': 'AGENT',
  'tool-create': 'TOOL',
  'chain-create': 'CHAIN',
  'retriever-create': 'RETRIEVER',
  'evaluator-create': 'EVALUATOR',
  'embedding-create': 'EMBEDDING',
  'guardrail-create': 'GUARDRAIL',
};

const updated: Readonly<Record<string, ObservationType>> = {
  'span-update': 'SPAN',
  'generation-update': 'GENERATION',
};

/** Types of events that are accepted. */
export const eventTypes = [
  'trace-create',
  ...Object.keys(created),
  ...Object.keys(updated),
  'observation-create',
  'observation-update',
  'score-create',
  'sdk-log',
];

const typeOf = (type: string, body: Body): ObservationType | undefined => {
  if (type.startsWith('observation-')) return readType(body);
  return Object.hasOwn(created, type) ? created[type] : updated[type];
};

const readContent = (
  type: string,
  body: Body,
  origin: Omit<EventOrigin, 'isUpdate'>,
): EventContent => {
  if (type === 'sdk-log') return { kind: 'log' };
  if (type === 'score-create') {
    return { kind: 'score', score: readScore(body), timeUs: origin.timeUs };
  }
  if (type === 'trace-create') {
    // Clients also update traces with this type, and send null for the values that they omit: null means absent.
    const state = readTrace(body, { ...origin, isUpdate: false });
    return { kind: 'trace', id: readId(body, 'id'), state };
  }
  const isUpdate = type.endsWith('-update');
  const ofType = typeOf(type, body);
  if (ofType === undefined) {
    throw new Misfit('type', `"${type}" is not one of ${eventTypes.join(', ')}`);
  }
  const state = readObservation(body, ofType, { ...origin, isUpdate });
  return { kind: 'observation', ...readObservationIds(body), state };
};

const unknownId = 'unknown';

const idOf = (event: unknown): string | undefined => {
  const id = isObject(event) ? event.id : undefined;
  const isId = typeof id === 'string' && id.length > 0 && id.length <= textLimits.id;
  return isId && id.isWellFormed() ? id : undefined;
};

const refused = (error: string): EventProblem => ({
  status: 400,
  message: 'Invalid request data',
  error,
});

const mostQuoted = 100;

/** Returns a problem of the event that reading its members cannot find; undefined if there is no such problem. */
type FaultOf = (event: unknown) => string | undefined;

const readWhole = (event: unknown, position: number, faultOf: FaultOf): EventContent => {
  if (!isObject(event)) throw new Misfit('', 'an event must be an object');
  if (idOf(event) === undefined) {
    throw new Misfit('id', `must be a string of 1 to ${textLimits.id} characters`);
  }
  const fault = faultOf(event);
  if (fault !== undefined) throw new Misfit('', `an event ${fault}`);
  const { type, timestamp, body } = event;
  const isKnown = typeof type === 'string' && eventTypes.includes(type);
  if (!isKnown) {
    const quoted = typeof type === 'string' ? JSON.stringify(type.slice(0, mostQuoted)) : 'none';
    throw new Misfit('type', `${quoted} is not one of ${eventTypes.join(', ')}`);
  }
  const timeUs = parseTimeUs(timestamp);
  if (timeUs === undefined) {
    throw new Misfit('timestamp', 'must be an ISO 8601 time with its offset, from 1970 up to 2199');
  }
  if (!isObject(body)) throw new Misfit('body', 'must be an object');
  try {
    return readContent(type, body, { timeUs, position });
  } catch (error) {
    throw error instanceof Misfit ? new Misfit(`body.${error.path}`, error.message) : error;
  }
};

/** Reads one event; `position` is its index in the batch. */
export const readEvent = (
  event: unknown,
  position: number,
  faultOf: FaultOf = () => undefined,
): ReadEvent => {
  const id = idOf(event) ?? unknownId;
  try {
    return { id, content: readWhole(event, position, faultOf) };
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    return { id, problem: refused(`${error.path} ${error.message}`.trim()) };
  }
};

/** Reads all events of a batch, in their order. */
export const readBatch = (batch: readonly unknown[], faultOf?: FaultOf): ReadEvent[] =>
  batch.map((event, position) => readEvent(event, position, faultOf));
