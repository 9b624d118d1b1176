/** An entry of the request ledger as a host delivers it: a row of the entity `svc_requests`. */
import { ledgerOrigins } from '#domain/ledger.ts';
import { ChangeCountsView } from '../public-api/sessions/call.ts';
import { RowChangeView } from '../public-api/sessions/request.ts';
import { nullable, oneOf } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

const Name = nullable(Type.String({ maxLength: 256 }));

export const LedgerEntry = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }),
  at: Type.String({
    maxLength: 24,
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
  }),
  via: oneOf(ledgerOrigins),
  operation: Name,
  method: Name,
  path: nullable(Type.String({ maxLength: 2_048 })),
  status: nullable(
    Type.Integer({ minimum: 0, maximum: 999, description: '0: the receiver sent no answer' }),
  ),
  request: Type.Unknown(),
  response: Type.Unknown(),
  duration_ms: Type.Number({ minimum: 0 }),
  changes: ChangeCountsView,
  rows: Type.Array(RowChangeView, { maxItems: 100 }),
  call_id: nullable(Type.String({ maxLength: 64 })),
});
export type LedgerEntry = Static<typeof LedgerEntry>;

/** Entries that a host could not deliver. */
export const LostEntries = Type.Object({
  entries: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }),
  lastEntry: Type.Integer({
    minimum: 1,
    maximum: 2 ** 31 - 1,
    description: "number of the last entry of the session's ledger",
  }),
});
export type LostEntries = Static<typeof LostEntries>;
