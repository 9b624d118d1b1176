/** Schemas of a call, for clients and hosts. */

import { callKinds, callStates, clientCallKinds } from '#domain/call.ts';
import { limits } from '#domain/limits.ts';
import { JsonObject, nullable, Omitted, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

export const CallErrorView = Type.Object({
  code: Type.String({ maxLength: limits.nameChars }),
  message: Type.String({ maxLength: limits.messageChars }),
  path: Type.Optional(
    Type.String({
      maxLength: limits.messageChars,
      description: "JSON pointer into the call's input",
    }),
  ),
  details: Type.Optional(Type.Unknown()),
});

export const ChangeCountsView = Type.Record(
  Type.String(),
  Type.Object({
    inserted: Type.Integer({ minimum: 0 }),
    updated: Type.Integer({ minimum: 0 }),
    deleted: Type.Integer({ minimum: 0 }),
  }),
  {
    maxProperties: limits.members,
    description: 'number of changed rows by entity; entities without a change are left out',
  },
);

/** One call of a session. Its times are by the database's clock. */
export const CallView = Type.Object({
  id: Type.String(),
  sessionId: Type.String(),
  seq: Type.Integer({ minimum: 1, description: 'position of the call in the session, from 1' }),
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

/**
 * A call in a list. `fields` requests `input` and `output`; `output` includes the `details` of an error. Once a page is
 * full, later calls lack the members that are named in `omitted`.
 */
export const CallListView = Type.Object({
  ...CallView.properties,
  input: Type.Optional(Type.Unknown()),
  output: Type.Optional(Type.Unknown()),
  omitted: Omitted,
});
export type CallListView = Static<typeof CallListView>;

/** Body with which a client enqueues a call. */
export const CallRequest = Type.Object(
  {
    kind: oneOf(clientCallKinds),
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'name of the tool, for kind "tool"',
      }),
    ),
    input: Type.Optional(JsonObject),
  },
  { additionalProperties: false },
);
export type CallRequest = Static<typeof CallRequest>;
