/** Endpoints of the webhook destinations of worlds. */
import { AppError } from '#domain/error.ts';
import { readReceiverUrl } from '#egress/receiver-url.ts';
import * as api from '#wire/public-api/operations.ts';
import {
  type DestinationRow,
  findWebhookPush,
  listDestinations,
  mostDestinations,
  removeDestination,
  setDestination,
} from '../../../db/sessions/webhook-push.ts';
import type { Parts } from '../../../parts.ts';
import { getWorld } from '../../../worlds/versions/address.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

const viewDestination = ({ setAt, ...row }: DestinationRow) => ({
  ...row,
  setAt: setAt.toISOString(),
});

const invalid = (name: string, message: string): AppError =>
  new AppError('invalid', `invalid request: ${name}: ${message}`, {
    fields: [{ path: [name], message }],
  });

/** Throws `invalid` for a URL that no subscription can have: only deliveries to http and https URLs are signed. */
const checkRegistered = (url: string): void => {
  const { protocol } = URL.parse(url) ?? {};
  if (protocol === 'http:' || protocol === 'https:') return;
  throw invalid('url', 'must be the http or https URL of a webhook subscription');
};

/** Throws `invalid` for a destination whose URL the sender would refuse. */
const checkDestination = (destination: string): void => {
  const read = readReceiverUrl(destination);
  if ('problem' in read) throw invalid('destination', read.problem.message);
};

export const webhookPushEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.listDestinations, async ({ params }, { caller: { projectId } }) => {
    const world = await getWorld(parts, projectId, params.slug);
    const data = (await listDestinations(parts.db, world.id)).map(viewDestination);
    const webhookPush = (await findWebhookPush(parts.db, projectId)) !== null;
    return respond(200, { data, meta: { webhookPush } });
  }),

  endpoint(api.setDestination, async ({ params, body }, { caller: { projectId } }) => {
    const world = await getWorld(parts, projectId, params.slug);
    const { url, destination } = body;
    checkRegistered(url);
    checkDestination(destination);
    const row = await setDestination(parts.db, { worldId: world.id, url, destination });
    if (row === undefined) {
      const message = `the world "${world.slug}" has ${mostDestinations} webhook destinations, the maximum: remove one first`;
      throw new AppError('conflict', message);
    }
    const webhookPush = (await findWebhookPush(parts.db, projectId)) !== null;
    return respond(200, { ...viewDestination(row), webhookPush });
  }),

  endpoint(api.removeDestination, async ({ params, query }, { caller: { projectId } }) => {
    const world = await getWorld(parts, projectId, params.slug);
    const removed = await removeDestination(parts.db, world.id, query.url);
    if (removed !== undefined) return respond(200, viewDestination(removed));
    const message = `the world "${world.slug}" has no webhook destination for ${query.url}`;
    throw new AppError('not_found', message);
  }),
];
