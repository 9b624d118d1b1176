/** Webhook deliveries for clients that send them, and the answers of receivers. */
import { deliverySenders } from '#domain/ledger.ts';
import { sessionStates } from '#domain/session.ts';
import { JsonObject, nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

/** Number of a delivery: that of its entry in the session's ledger, which resets do not restart. */
const Sequence = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 });

/** Upper bound for the deliveries on a page, and for the answers in one request. */
export const deliveriesMost = 100;

export const DeliveryAnswerView = Type.Object({
  status: Type.Integer({ description: 'what the receiver answered; 0: nothing, see `reason`' }),
  reason: nullable(Type.String({ description: 'why there was no answer' })),
  sentTo: nullable(
    Type.String({ description: 'the address used, where that is not the registered one' }),
  ),
  sender: oneOf(deliverySenders),
  durationMs: Type.Number({ minimum: 0 }),
  at: Timestamp,
});
export type DeliveryAnswerView = Static<typeof DeliveryAnswerView>;

export const DeliveryView = Type.Object({
  sequence: Type.Integer({
    minimum: 1,
    description: 'its place in the ledger of the session; with the session id, its identity',
  }),
  generation: Type.Integer({ minimum: 0, description: 'how often the session was reset before' }),
  event: Type.String(),
  at: Timestamp,
  url: Type.String({ description: 'as it was registered' }),
  subscription: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'the key of the row that it is for',
    }),
  ),
  world: nullable(
    Type.String({ description: 'the alias of the linked world that sent it; null: the own one' }),
  ),
  headers: Type.Record(Type.String(), Type.String(), { description: 'signed, as they are sent' }),
  body: Type.String({ description: 'the exact text that was signed' }),
  answer: nullable(DeliveryAnswerView),
});
export type DeliveryView = Static<typeof DeliveryView>;

export const DeliveryList = Type.Object({
  data: Type.Array(DeliveryView),
  meta: Type.Object({
    after: Type.Integer({
      description: 'what to give as `after` for those that follow; also where `data` is empty',
    }),
    last: Type.Integer({ description: 'the last delivery that the session has made; 0: none' }),
    state: oneOf(sessionStates),
    isOver: Type.Boolean({ description: 'no delivery will follow those that are there' }),
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
      kept: Type.Boolean({ description: 'false: an earlier answer is kept, which is this one' }),
      answer: DeliveryAnswerView,
    }),
  ),
});
export type AnswersView = Static<typeof AnswersView>;

/** A subscription in its present state in the session. It never holds a secret. */
export const SubscriptionView = Type.Object({
  key: JsonObject,
  world: nullable(Type.String({ description: 'the alias of the linked world that it is of' })),
  url: nullable(Type.String()),
  events: nullable(Type.Array(Type.String(), { description: 'null: every event' })),
  scope: Type.Record(Type.String(), Type.Array(Type.Unknown()), {
    description: 'by name what it lists; a scope of which it lists nothing is not there',
  }),
  enabled: Type.Boolean(),
  skips: nullable(Type.String({ description: 'why nothing can be sent to it; null: it can' })),
  deliveries: Type.Integer({ minimum: 0, description: 'since the last reset' }),
});
export type SubscriptionView = Static<typeof SubscriptionView>;

export const SubscriptionList = Type.Object({
  data: Type.Array(SubscriptionView),
  meta: Type.Object({
    total: Type.Integer({ minimum: 0 }),
    next: Type.Optional(
      Type.Integer({ description: 'what to give as `offset` for those that follow' }),
    ),
    lastDelivery: Type.Integer({
      description: 'the number of the last delivery that the session has made; 0: none',
    }),
  }),
});
export type SubscriptionList = Static<typeof SubscriptionList>;
