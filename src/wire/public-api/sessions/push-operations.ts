/** Operations on webhook push: the URLs to which the service itself posts webhooks. */
import { deleteOperation, getOperation, operation } from '../../operation.ts';
import { Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { WorldParams } from '../worlds/version.ts';

const UrlText = Type.String({ minLength: 1, maxLength: 2_048 });

export const DestinationView = Type.Object({
  url: Type.String({ description: 'URL as agents register it' }),
  destination: Type.String({ description: 'URL to which deliveries are posted instead' }),
  setAt: Timestamp,
});
export type DestinationView = Static<typeof DestinationView>;

const Push = {
  webhookPush: Type.Boolean({ description: 'whether deliveries for the URL are posted' }),
};

export const listDestinations = getOperation({
  id: 'listWebhookDestinations',
  summary: 'The webhook destinations of a world, each with the registered URL that it replaces',
  path: '/worlds/{slug}/webhook-destinations',
  access: 'write',
  params: WorldParams,
  answer: Type.Object({ data: Type.Array(DestinationView), meta: Type.Object(Push) }),
});

export const setDestination = operation({
  id: 'setWebhookDestination',
  summary: 'Post the deliveries for a registered URL to another URL, in all sessions of a world',
  method: 'PUT',
  path: '/worlds/{slug}/webhook-destinations',
  access: 'write',
  params: WorldParams,
  body: Type.Object({ url: UrlText, destination: UrlText }, { additionalProperties: false }),
  answers: { 200: Type.Object({ ...DestinationView.properties, ...Push }) },
});

export const removeDestination = deleteOperation({
  id: 'removeWebhookDestination',
  summary: 'Remove a destination: deliveries for the registered URL are posted to that URL again',
  path: '/worlds/{slug}/webhook-destinations',
  access: 'write',
  params: WorldParams,
  query: Type.Object({ url: UrlText }, { additionalProperties: false }),
  answer: DestinationView,
});
