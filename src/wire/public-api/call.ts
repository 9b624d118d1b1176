/** The call record as clients and hosts see it. */

import { callKinds, callStates } from '#domain/call.ts';
import { JsonObject, nullable, oneOf, Timestamp } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

export const CallErrorView = Type.Object({
  code: Type.String(),
  message: Type.String(),
  path: Type.Optional(Type.String({ description: 'JSON pointer into the input' })),
  details: Type.Optional(Type.Unknown()),
});

export const ChangeCountsView = Type.Record(
  Type.String(),
  Type.Object({
    inserted: Type.Integer({ minimum: 0 }),
    updated: Type.Integer({ minimum: 0 }),
    deleted: Type.Integer({ minimum: 0 }),
  }),
  { description: 'rows changed, by entity; only entities with a change are named' },
);

/** One call of a session. Times are the database's. */
export const CallView = Type.Object({
  id: Type.String(),
  sessionId: Type.String(),
  seq: Type.Integer({ minimum: 1, description: 'position in the session, from 1' }),
  kind: oneOf(callKinds),
  name: nullable(Type.String()),
  input: Type.Unknown(),
  state: oneOf(callStates),
  output: Type.Unknown(),
  error: nullable(CallErrorView),
  changes: ChangeCountsView,
  queuedAt: Timestamp,
  claimedAt: nullable(Timestamp),
  answeredAt: nullable(Timestamp),
});
export type CallView = Static<typeof CallView>;

/** What a client sends to enqueue one. */
export const CallRequest = Type.Object(
  {
    kind: oneOf(callKinds),
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'the tool, for kind "tool"' }),
    ),
    input: Type.Optional(JsonObject),
  },
  { additionalProperties: false },
);
export type CallRequest = Static<typeof CallRequest>;
