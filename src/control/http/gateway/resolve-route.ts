/** GET /routes/{sessionId} */
import { isReady } from '#domain/session.ts';
import { resolveRoute as operation, type Route } from '#wire/gateway-api/operations.ts';
import { findRoute, type RouteRow } from '../../db/routes.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';
import { noSession } from '../waits.ts';

/** Hosts serve the API alone so far. */
const surfacesOf = ({ state, surfaces, hostAddress }: RouteRow): Route['surfaces'] =>
  isReady(state) && hostAddress !== null && surfaces.includes('api') ? { api: hostAddress } : {};

export const resolveRoute = ({ db }: Pick<Parts, 'db'>) =>
  endpoint(operation, async ({ params: { sessionId } }) => {
    const row = await findRoute(db, sessionId);
    if (row === undefined) throw noSession(sessionId);
    const { state, endReason } = row;
    return respond(200, { sessionId, state, endReason, surfaces: surfacesOf(row) });
  });
