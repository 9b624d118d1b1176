/** Operations on webhook deliveries of a session. */
import { limits } from '#domain/limits.ts';
import { getOperation, operation } from '../../operation.ts';
import { WaitSeconds } from '../../schemas.ts';
import { Type } from '../../type.ts';
import {
  AnswersBody,
  AnswersView,
  DeliveryList,
  deliveriesMost,
  SubscriptionList,
} from './delivery.ts';

const SessionParams = Type.Object({ sessionId: Type.String({ maxLength: 64 }) });

export const listWebhooks = getOperation({
  id: 'listWebhooks',
  summary: 'The webhook subscriptions of an open session, without their secrets',
  path: '/world-sessions/{sessionId}/webhooks',
  access: 'read',
  tools: [{ name: 'list_world_session_webhooks' }],
  params: SessionParams,
  query: Type.Object(
    {
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageMax })),
    },
    { additionalProperties: false },
  ),
  answer: SubscriptionList,
});

export const listDeliveries = getOperation({
  id: 'listDeliveries',
  summary: 'The webhook deliveries of a session, oldest first, each as it was signed',
  path: '/world-sessions/{sessionId}/deliveries',
  access: 'read',
  tools: [{ name: 'list_world_session_deliveries' }],
  params: SessionParams,
  query: Type.Object(
    {
      after: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 2 ** 31 - 1,
          description: 'only deliveries with a larger number',
        }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: deliveriesMost })),
      wait: WaitSeconds,
    },
    { additionalProperties: false },
  ),
  answer: DeliveryList,
});

export const answerDeliveries = operation({
  id: 'answerDeliveries',
  summary: 'Store the answers of receivers; only the first answer to a delivery is stored',
  method: 'POST',
  path: '/world-sessions/{sessionId}/deliveries/answers',
  access: 'write',
  params: SessionParams,
  body: AnswersBody,
  answers: { 200: AnswersView },
});
