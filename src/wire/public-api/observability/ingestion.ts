/**
 * Ingestion of telemetry, event by event, as the SDKs of the field send it. The code that reads the events validates
 * each one, so the contract only requires a list.
 */
import { operation } from '../../operation.ts';
import { type Static, Type } from '../../type.ts';

/** Upper bounds for the events and the bytes of one batch; clients send less than a tenth of either. */
export const mostEvents = 50_000;
const batchBytes = 4.5 * 1024 * 1024;

export const IngestionBody = Type.Object({
  batch: Type.Array(Type.Unknown(), {
    maxItems: mostEvents,
    description:
      'events, each `{id, type, timestamp, body}`; an invalid event is rejected without affecting the others',
  }),
  metadata: Type.Optional(Type.Unknown({ description: 'metadata of the client; not stored' })),
});
export type IngestionBody = Static<typeof IngestionBody>;

export const IngestionAnswer = Type.Object({
  successes: Type.Array(Type.Object({ id: Type.String(), status: Type.Integer() }), {
    description: 'ids of accepted events, whose data can be read from now on',
  }),
  errors: Type.Array(
    Type.Object({
      id: Type.String({ description: 'id of the event; `unknown` if the event has none' }),
      status: Type.Integer(),
      message: Type.String(),
      error: Type.String({ description: 'what is wrong with the event, and where' }),
    }),
  ),
});

export const ingest = operation({
  id: 'ingest',
  summary:
    'Ingest events of traces, observations and scores; for scores and logs, the public key is enough',
  method: 'POST',
  path: '/ingestion',
  access: 'send',
  body: IngestionBody,
  bodyBytes: batchBytes,
  overload: 503,
  answers: { 207: IngestionAnswer },
  refusals: {
    503: 'Too much data is being ingested; `Retry-After` says when to send the batch again.',
  },
});
