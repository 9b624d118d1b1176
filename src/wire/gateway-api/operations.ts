/**
 * Contract between gateways and the control plane. Base address: `{base_url}/api/gateway`, bearer: the gateway token. A
 * gateway asks which hosts serve the surfaces of sessions and follows changes. Only the control plane knows the hosts,
 * and only it consumes the one-time links by which people open surfaces.
 */
import { limits } from '#domain/limits.ts';
import { endReasons, sessionStates, surfaceKinds } from '#domain/session.ts';
import { getOperation, operation } from '../operation.ts';
import { callSessionServer } from '../public-api/sessions/mcp-operations.ts';
import { nullable, oneOf } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

const SessionParams = Type.Object({ sessionId: Type.String({ maxLength: 64 }) });

export const Route = Type.Object({
  sessionId: Type.String(),
  state: oneOf(sessionStates),
  endReason: nullable(oneOf(endReasons)),
  surfaces: Type.Object(
    {
      api: Type.Optional(Type.String()),
      ui: Type.Optional(Type.String()),
      browser: Type.Optional(Type.String()),
    },
    {
      description:
        "base address of each surface on the session's host; only while the session is READY",
    },
  ),
  entryKeys: Type.Optional(
    Type.Object(
      { ui: Type.Optional(Type.String()), browser: Type.Optional(Type.String()) },
      {
        description:
          'keys that the host requires from gateways, for the surfaces that people open in a browser',
      },
    ),
  ),
  waiting: Type.Optional(
    Type.Array(oneOf(surfaceKinds), {
      description:
        'surfaces of the session that have no address at present; a later request may find one',
    }),
  ),
});
export type Route = Static<typeof Route>;

export const resolveRoute = getOperation({
  id: 'resolveRoute',
  summary: 'Current addresses of the surfaces of a session',
  path: '/routes/{sessionId}',
  access: 'gateway',
  params: SessionParams,
  answer: Route,
});

export const RouteChanges = Type.Object({
  cursor: Type.String({
    description: 'position at which this answer ends, to be sent as `after` of the next request',
  }),
  missed: Type.Boolean({
    description:
      'true if the changes between `after` and `cursor` are unknown, so that any route may have changed',
  }),
  sessionIds: Type.Array(Type.String(), { description: 'sessions whose route has changed' }),
});
export type RouteChanges = Static<typeof RouteChanges>;

export const followRoutes = getOperation({
  id: 'followRoutes',
  summary: 'Sessions whose route changed; the answer is held until there is one',
  path: '/changes',
  access: 'gateway',
  query: Type.Object(
    {
      after: Type.Optional(Type.String({ maxLength: 256 })),
      hold: Type.Optional(Type.Number({ minimum: 0, maximum: limits.pollMs / 1_000 })),
    },
    { additionalProperties: false },
  ),
  answer: RouteChanges,
});

export const consumeLink = operation({
  id: 'consumeLink',
  summary: 'Consume a one-time link to a surface',
  method: 'POST',
  path: '/routes/{sessionId}/entries',
  access: 'gateway',
  params: SessionParams,
  body: Type.Object(
    {
      surface: oneOf(surfaceKinds),
      token: Type.String({ minLength: 1, maxLength: 200 }),
    },
    { additionalProperties: false },
  ),
  answers: {
    200: Type.Object({
      accepted: Type.Boolean({
        description: 'false: the link was used already, has expired, or does not exist',
      }),
    }),
  },
});

/**
 * Request of an agent to the MCP server of a session, forwarded by a gateway. The agent authenticates with its
 * session's token.
 */
export const relaySessionServer = operation({
  ...callSessionServer,
  id: 'relaySessionServer',
  path: '/sessions/{sessionId}/mcp',
});
