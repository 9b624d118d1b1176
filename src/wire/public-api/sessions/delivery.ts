/** Webhook deliveries for clients that send them, and the answers of receivers. */
import { deliverySenders } from '#domain/ledger.ts';
import { sessionStates } from '#domain/session.ts';
import { JsonObject, nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

/** Number of a delivery: that of its entry in the session's ledger, which resets do not restart. */
const Sequence = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 });

/** Maximum number of deliveries on a page, and of answers in one request. */
export const deliveriesMost = 100;

export const DeliveryAnswerView = Type.Object({
  status: Type.Integer({
    description: 'status that the receiver answered with; 0: no answer, see `reason`',
  }),
  reason: nullable(Type.String({ description: 'why there was no answer' })),
  sentTo: nullable(
    Type.String({ description: 'address used, if it differs from the registered one' }),
  ),
  sender: oneOf(deliverySenders),
  durationMs: Type.Number({ minimum: 0 }),
  at: Timestamp,
});
export type DeliveryAnswerView = Static<typeof DeliveryAnswerView>;

export const DeliveryView = Type.Object({
  sequence: Type.Integer({
    minimum: 1,
    description:
      'number of the delivery in the ledger of the session; together with the session id it identifies the delivery',
  }),
  generation: Type.Integer({ minimum: 0, description: 'number of earlier resets of the session' }),
  event: Type.String(),
  at: Timestamp,
  url: Type.String({ description: 'registered URL' }),
  subscription: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "primary key of the subscription's row",
    }),
  ),
  world: nullable(
    Type.String({
      description: 'alias of the linked world that sent it; null: the world of the session itself',
    }),
  ),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'headers as they are sent, with the signature',
  }),
  body: Type.String({ description: 'the exact text of the body that was signed' }),
  answer: nullable(DeliveryAnswerView),
});
export type DeliveryView = Static<typeof DeliveryView>;

export const DeliveryList = Type.Object({
  data: Type.Array(DeliveryView),
  meta: Type.Object({
    after: Type.Integer({
      description: 'cursor for `after` of the next page, even if `data` is empty',
    }),
    last: Type.Integer({ description: 'number of the last delivery of the session; 0: none' }),
    state: oneOf(sessionStates),
    isOver: Type.Boolean({ description: 'true if no further delivery will follow' }),
  }),
});
export type DeliveryList = Static<typeof DeliveryList>;

export const AnswersBody = Type.Object(
  {
    answers: Type.Array(
      Type.Object(
        {
          sequence: Sequence,
          status: Type.Integer({ minimum: 0, maximum: 999 }),
          reason: Type.Optional(Type.String({ maxLength: 1_000 })),
          sentTo: Type.Optional(Type.String({ maxLength: 2_048 })),
          durationMs: Type.Number({ minimum: 0, maximum: 3_600_000 }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: deliveriesMost },
    ),
  },
  { additionalProperties: false },
);
export type AnswersBody = Static<typeof AnswersBody>;

export const AnswersView = Type.Object({
  data: Type.Array(
    Type.Object({
      sequence: Sequence,
      kept: Type.Boolean({
        description: 'false: an answer to this delivery was already stored, and is returned',
      }),
      answer: DeliveryAnswerView,
    }),
  ),
});
export type AnswersView = Static<typeof AnswersView>;

/** A subscription in its present state in the session. It never holds a secret. */
export const SubscriptionView = Type.Object({
  key: JsonObject,
  world: nullable(
    Type.String({
      description:
        'alias of the linked world that the subscription belongs to; null: the world of the session itself',
    }),
  ),
  url: nullable(Type.String()),
  events: nullable(
    Type.Array(Type.String(), {
      description: 'event types that the subscription wants; null: all',
    }),
  ),
  scope: Type.Record(Type.String(), Type.Array(Type.Unknown()), {
    description: 'values that the subscription lists, by scope; a scope without values is absent',
  }),
  enabled: Type.Boolean(),
  skips: nullable(
    Type.String({
      description:
        'reason why nothing can be sent to the subscription; null: it can receive deliveries',
    }),
  ),
  deliveries: Type.Integer({
    minimum: 0,
    description: 'number of deliveries since the last reset',
  }),
});
export type SubscriptionView = Static<typeof SubscriptionView>;

export const SubscriptionList = Type.Object({
  data: Type.Array(SubscriptionView),
  meta: Type.Object({
    total: Type.Integer({ minimum: 0 }),
    next: Type.Optional(Type.Integer({ description: '`offset` of the next page' })),
    lastDelivery: Type.Integer({
      description: 'number of the last delivery of the session; 0: none',
    }),
  }),
});
export type SubscriptionList = Static<typeof SubscriptionList>;
