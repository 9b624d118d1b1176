/**
 * Contract between webhook senders and the control plane. Base address: `{base_url}/api/sender`, bearer: the senders'
 * token. A sender claims deliveries, posts each once, and reports the results. If it does not report a delivery within
 * a minute, the control plane records the delivery as failed. If the answer to a claim was lost, the sender says so in
 * the next claim and gets the same deliveries again.
 */
import { limits } from '#domain/limits.ts';
import { pushFailures } from '#domain/push.ts';
import { operation } from '../operation.ts';
import { Id, nullable, oneOf } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

/** Maximum number of deliveries in one claim or one report. */
export const pushBatchMost = 100;

const Claim = Type.String({
  minLength: 16,
  maxLength: 64,
  description: 'name of this sender process; no other process ever has the same name',
});

/** Maximum of a claim's number, which the database stores as an integer. */
const counted = { maximum: 2 ** 31 - 1 } as const;

export const Push = Type.Object({
  sessionId: Id,
  sequence: Type.Integer({
    minimum: 1,
    description: "number of the delivery in its session's ledger",
  }),
  url: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.String({ description: 'the exact text of the body that was signed' }),
});
export type Push = Static<typeof Push>;

export const claimPushes = operation({
  id: 'claimPushes',
  summary:
    'Claim the deliveries that are due, which no other sender then gets; the answer is held until there are some',
  method: 'POST',
  path: '/claims',
  access: 'sender',
  body: Type.Object(
    {
      claim: Claim,
      most: Type.Integer({ minimum: 1, maximum: pushBatchMost }),
      round: Type.Optional(
        Type.Integer({
          ...counted,
          minimum: 1,
          description: 'number of the claim, counted by the sender',
        }),
      ),
      heard: Type.Optional(
        Type.Integer({
          ...counted,
          minimum: 0,
          description:
            'number of the last claim whose answer the sender received; the deliveries of later claims did not arrive and are returned again',
        }),
      ),
      hold: Type.Optional(Type.Number({ minimum: 0, maximum: limits.pollMs / 1_000 })),
    },
    { additionalProperties: false },
  ),
  answers: { 200: Type.Object({ pushes: Type.Array(Push) }) },
});

export const PushReport = Type.Object(
  {
    sessionId: Id,
    sequence: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }),
    status: Type.Integer({
      minimum: 0,
      maximum: 999,
      description: 'HTTP status of the answer; 0: there was no answer',
    }),
    failure: nullable(oneOf(pushFailures)),
    reason: nullable(Type.String({ maxLength: 1_000 })),
    durationMs: Type.Number({ minimum: 0, maximum: 3_600_000 }),
    agoMs: Type.Optional(
      Type.Number({
        minimum: 0,
        description:
          'time since the delivery ended, at the time of the report, in milliseconds; for traces',
      }),
    ),
  },
  { additionalProperties: false },
);
export type PushReport = Static<typeof PushReport>;

export const reportPushes = operation({
  id: 'reportPushes',
  summary: 'Report the outcomes of deliveries that this sender claimed',
  method: 'POST',
  path: '/reports',
  access: 'sender',
  body: Type.Object(
    { claim: Claim, reports: Type.Array(PushReport, { minItems: 1, maxItems: pushBatchMost }) },
    { additionalProperties: false },
  ),
  answers: {
    200: Type.Object({
      recorded: Type.Integer({
        description: 'deliveries that were still assigned to the sender when it reported them',
      }),
    }),
  },
});
