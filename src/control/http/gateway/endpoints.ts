/** Endpoints of the gateway API, which gateways call below `/api/gateway`. */
import { isReady } from '#domain/session.ts';
import { Secret } from '#runtime/secret.ts';
import { entryKeyOf } from '#runtime/surface-pass.ts';
import * as api from '#wire/gateway-api/operations.ts';
import { consumeLink, findRoute, type RouteRow } from '../../db/sessions/routes.ts';
import { noSession } from '../../db/sessions/sessions.ts';
import { rpcRefusal, serveMcp } from '../../mcp/serve.ts';
import { createSessionHandler } from '../../mcp/session-handler.ts';
import type { Parts } from '../../parts.ts';
import { holdUntil, toMs } from '../../platform/notifications/held-requests.ts';
import { routesTopic } from '../../platform/notifications/notifications.ts';
import { hashSecretKey, sessionToken } from '../../platform/tokens/tokens.ts';
import { type Endpoint, endpoint, respond } from '../server/endpoint.ts';

/**
 * Surfaces that world hosts serve. A host serves all its surfaces at one address; the `Host` header selects the
 * surface.
 */
const hosted = ['api', 'ui'] as const;

/**
 * Returns the addresses of a session's surfaces, with the entry keys of the surfaces that people open. Returns none if
 * the session is not ready.
 */
const placesOf = (
  { secrets }: Pick<Parts, 'secrets'>,
  row: RouteRow,
): Pick<api.Route, 'surfaces' | 'entryKeys'> => {
  const { id, state, surfaces, hostAddress, browserAddress } = row;
  if (!isReady(state) || hostAddress === null) return { surfaces: {} };
  const served = hosted.filter((surface) => surfaces.includes(surface));
  const addresses: api.Route['surfaces'] = Object.fromEntries(
    served.map((surface) => [surface, hostAddress]),
  );
  if (browserAddress !== null) addresses.browser = browserAddress;
  const secret = surfaces.includes('ui') ? secrets.of(row) : undefined;
  if (secret === undefined) return { surfaces: addresses };
  const token = new Secret(sessionToken(secret, id));
  return { surfaces: addresses, entryKeys: { ui: entryKeyOf(token, 'ui') } };
};

const routeEndpoints = ({ db, notifications, secrets }: Parts): Endpoint[] => [
  endpoint(api.resolveRoute, async ({ params: { sessionId } }) => {
    const row = await findRoute(db, sessionId);
    if (row === undefined) throw noSession(sessionId);
    const { state, endReason } = row;
    const isWaiting = row.surfaces.includes('browser') && row.browserAddress === null;
    const waiting = isWaiting ? { waiting: ['browser' as const] } : {};
    return respond(200, { sessionId, state, endReason, ...placesOf({ secrets }, row), ...waiting });
  }),

  endpoint(api.followRoutes, async ({ query: { after = '', hold } }, { signal }) => {
    const look = async () => notifications.routes.since(after);
    const changes = await holdUntil(notifications, {
      topic: routesTopic,
      ms: toMs(hold),
      signal,
      look,
    });
    return respond(200, changes ?? { cursor: after, missed: false, sessionIds: [] });
  }),

  endpoint(api.consumeLink, async ({ params: { sessionId }, body: { surface, token } }) => {
    const link = { sessionId, surface, tokenHash: hashSecretKey(token) };
    return respond(200, { accepted: (await consumeLink(db, link)) !== undefined });
  }),
];

export const gatewayEndpoints = (parts: Parts): Endpoint[] => [
  ...routeEndpoints(parts),
  endpoint(
    api.relaySessionServer,
    async ({ params, headers, body }, { caller: { projectId }, signal }) =>
      serveMcp(parts, { headers, body, projectId, signal }, () =>
        createSessionHandler(parts, { ...params, projectId }),
      ),
    rpcRefusal,
  ),
];
