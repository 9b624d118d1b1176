/** A request to a session, for clients: an entry of the session's ledger, which outlives the session. */

import { ledgerOrigins } from '#domain/ledger.ts';
import { limits } from '#domain/limits.ts';
import { JsonObject, nullable, Omitted, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { ChangeCountsView } from './call.ts';

/** A row that a request changed. A changed primary key shows as a deletion and an insertion. */
export const RowChangeView = Type.Object({
  entity: Type.String({ maxLength: limits.nameChars }),
  key: nullable(JsonObject),
  kind: oneOf(['inserted', 'updated', 'deleted']),
  fields: Type.Optional(
    Type.Array(Type.String({ maxLength: limits.messageChars }), {
      maxItems: 100,
      description: 'top-level fields that changed in an updated row',
    }),
  ),
});

/** A request in a list. Once a page is full, later entries lack `request`, `response`, `changes` and `rows`. */
export const RequestView = Type.Object({
  sessionId: Type.String(),
  id: Type.Integer({
    minimum: 1,
    description: "position of the entry in the session's ledger, from 1",
  }),
  at: Timestamp,
  via: oneOf(ledgerOrigins),
  operation: nullable(
    Type.String({
      description: 'name of the tool or API operation, kind of the call, or type of the event',
    }),
  ),
  method: nullable(Type.String()),
  path: nullable(Type.String()),
  status: nullable(Type.Integer()),
  request: Type.Unknown(),
  response: Type.Unknown(),
  durationMs: Type.Number({ minimum: 0 }),
  changes: ChangeCountsView,
  rows: Type.Array(RowChangeView, {
    description: 'the first of the changed rows; further ones are left out',
  }),
  callId: nullable(Type.String()),
  omitted: Omitted,
});
export type RequestView = Static<typeof RequestView>;

/** Filters for requests. */
export const RequestFilter = {
  via: Type.Optional(oneOf(ledgerOrigins)),
  operation: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  status: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 999,
      description: 'HTTP status of the answer; 0 selects entries without a status',
    }),
  ),
};

/** Filter on the requests of one session: only requests with a larger `id`. */
export const AfterRequest = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: 'only entries with a larger id' }),
);

/** Filter on the requests of a world: only requests after this time. */
export const AfterTime = Type.Optional(
  Type.String({ maxLength: 64, description: 'only entries after this time, ISO 8601' }),
);
