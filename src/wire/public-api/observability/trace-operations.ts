/** Operations on traces, observations and trace sessions. */
import { deleteOperation, getOperation, operation } from '../../operation.ts';
import { Type } from '../../type.ts';
import {
  DeleteTracesBody,
  Done,
  LongId,
  Made,
  ObservationList,
  ObservationPartsList,
  ObservationView,
  Param,
  pageParams,
  TraceBody,
  TraceDetail,
  TraceList,
  TraceSessionDetail,
  TraceSessionList,
} from './trace.ts';

const TraceParams = Type.Object({ traceId: LongId });
const filterParam = Param(
  'JSON list of conditions `{type, column, operator, value, key?}`, all of which must hold',
);
/** Maximum size in bytes of bodies with inputs and outputs of models. */
const bodyBytes = 4.5 * 1024 * 1024;
const slow = { 524: 'The query takes too long; request a shorter period.' };

export const listTraces = getOperation({
  id: 'listTraces',
  summary: 'Traces, latest first',
  path: '/traces',
  access: 'inspect',
  query: Type.Object({
    ...pageParams,
    userId: Param(),
    name: Param(),
    sessionId: Param(),
    tags: Param('tags that the trace must all have'),
    version: Param(),
    release: Param(),
    environment: Param('environments; the trace must be in one of them'),
    fromTimestamp: Param(),
    toTimestamp: Param(),
    orderBy: Param('field and direction to sort by, such as `timestamp.desc`'),
    fields: Param('groups of fields: core, io, scores, observations, metrics; default: all'),
    filter: filterParam,
  }),
  answer: TraceList,
  refusals: slow,
});

export const getTrace = getOperation({
  id: 'getTrace',
  summary: 'A trace with its observations and scores',
  path: '/traces/{traceId}',
  access: 'inspect',
  params: TraceParams,
  query: Type.Object({ fields: Param('groups of fields, as in the list') }),
  answer: TraceDetail,
  refusals: slow,
});

export const createTrace = operation({
  id: 'createTrace',
  summary: 'Create or update a trace',
  method: 'POST',
  path: '/traces',
  access: 'write',
  body: TraceBody,
  bodyBytes,
  overload: 503,
  answers: { 200: Made },
});

export const deleteTrace = deleteOperation({
  id: 'deleteTrace',
  summary: 'Delete a trace with its observations and scores',
  path: '/traces/{traceId}',
  access: 'write',
  params: TraceParams,
  answer: Done,
});

export const deleteTraces = deleteOperation({
  id: 'deleteTraces',
  summary: 'Delete up to 1,000 traces with their observations and scores',
  path: '/traces',
  access: 'write',
  body: DeleteTracesBody,
  answer: Done,
});

const observationParams = {
  name: Param(),
  userId: Param(),
  type: Param(),
  traceId: Param(),
  level: Param(),
  parentObservationId: Param(),
  environment: Param('environments; the observation must be in one of them'),
  fromStartTime: Param(),
  toStartTime: Param(),
  version: Param(),
  filter: filterParam,
};

export const listObservations = getOperation({
  id: 'listObservations',
  summary: 'Observations, latest first',
  path: '/observations',
  access: 'inspect',
  query: Type.Object({ ...pageParams, ...observationParams }),
  answer: ObservationList,
  refusals: slow,
});

export const getObservation = getOperation({
  id: 'getObservation',
  summary: 'An observation with usage, cost and model',
  path: '/observations/{observationId}',
  access: 'inspect',
  unknown: 'ignored',
  params: Type.Object({ observationId: LongId }),
  answer: ObservationView,
});

export const listObservationParts = getOperation({
  id: 'listObservationParts',
  summary:
    'Observations, latest first, with the requested groups of fields; pages are read by a cursor',
  path: '/v2/observations',
  access: 'inspect',
  query: Type.Object({
    ...observationParams,
    limit: Param('maximum number of observations on a page; at most 1000'),
    cursor: Param('`meta.cursor` of the previous page'),
    fields: Param(
      'groups of fields: core, basic, time, io, metadata, model, usage, prompt, metrics, trace_context; default: core, basic',
    ),
    expandMetadata: Param('keys of the metadata whose values are returned in full'),
    parseIoAsJson: Param(),
    sessionId: Param(),
    isRootObservation: Param(),
  }),
  answer: ObservationPartsList,
  refusals: slow,
});

export const listTraceSessions = getOperation({
  id: 'listTraceSessions',
  summary: 'Trace sessions, newest first',
  path: '/sessions',
  access: 'inspect',
  query: Type.Object({
    ...pageParams,
    fromTimestamp: Param(),
    toTimestamp: Param(),
    environment: Param(),
  }),
  answer: TraceSessionList,
});

export const getTraceSession = getOperation({
  id: 'getTraceSession',
  summary: 'A trace session with its traces',
  path: '/sessions/{sessionId}',
  access: 'inspect',
  params: Type.Object({ sessionId: Type.String({ minLength: 1, maxLength: 1_000 }) }),
  query: Type.Object({ includeIO: Param('`true`: include the full observations of its traces') }),
  answer: TraceSessionDetail,
});
