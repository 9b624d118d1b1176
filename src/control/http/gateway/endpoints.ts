/** The gateway API: what is served to gateways below `/api/gateway`. */
import { isReady } from '#domain/session.ts';
import * as api from '#wire/gateway-api/operations.ts';
import { consumeLink, findRoute, type RouteRow } from '../../db/routes.ts';
import { noSession } from '../../db/sessions.ts';
import { holdUntil, toMs } from '../../news/hold.ts';
import { routesTopic } from '../../news/notices.ts';
import type { Parts } from '../../parts.ts';
import { hashSecretKey } from '../../tokens/tokens.ts';
import { type Endpoint, endpoint, respond } from '../endpoint.ts';

/** Hosts serve the API alone so far. */
const surfacesOf = ({ state, surfaces, hostAddress }: RouteRow): api.Route['surfaces'] =>
  isReady(state) && hostAddress !== null && surfaces.includes('api') ? { api: hostAddress } : {};

export const gatewayEndpoints = ({ db, notices }: Parts): Endpoint[] => [
  endpoint(api.resolveRoute, async ({ params: { sessionId } }) => {
    const row = await findRoute(db, sessionId);
    if (row === undefined) throw noSession(sessionId);
    const { state, endReason } = row;
    return respond(200, { sessionId, state, endReason, surfaces: surfacesOf(row) });
  }),

  endpoint(api.followRoutes, async ({ query: { after = '', hold } }, { signal }) => {
    const look = async () => notices.routes.since(after);
    const changes = await holdUntil(notices, { topic: routesTopic, ms: toMs(hold), signal, look });
    return respond(200, changes ?? { cursor: after, missed: false, sessionIds: [] });
  }),

  endpoint(api.consumeLink, async ({ params: { sessionId }, body: { surface, token } }) => {
    const link = { sessionId, surface, tokenHash: hashSecretKey(token) };
    return respond(200, { accepted: await consumeLink(db, link) });
  }),
];
