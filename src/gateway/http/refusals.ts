/**
 * Errors that the gateway itself answers, all in the form `{error: {code, message, details}}`. Each says what happened
 * to the session or the request, and never reveals the address of a host.
 */
import type { EndReason, SessionState } from '#domain/session.ts';
import { surfaceTemplateForm } from '#domain/surface-address.ts';
import { later, refusal, type SurfaceRefusal } from '#runtime/surface-refusal.ts';
import type { Route } from '#wire/gateway-api/operations.ts';

export type Refusal = SurfaceRefusal;

export const badRequest = (message: string): Refusal => refusal(400, 'bad_request', message);

export const unknownHost = (): Refusal =>
  refusal(
    404,
    'unknown_host',
    "this host name is not a surface of a session; read the session's URL from the API",
  );

export const noSuchLabel = (label: string): Refusal =>
  refusal(
    404,
    'no_such_session',
    `"${label.slice(0, 80)}" does not name a session and surface; addresses have the form ${surfaceTemplateForm}`,
  );

export const noMcpHere = (sessionId: string): Refusal =>
  refusal(
    404,
    'not_found',
    `the MCP server of ${sessionId} is served at the path /mcp of this host name`,
    {
      sessionId,
    },
  );

export const controlUnreachable = (): Refusal =>
  later(503, 'control_unreachable', 'the control plane did not answer; try again', 1);

export const noSuchSession = (sessionId: string): Refusal =>
  refusal(404, 'no_such_session', `there is no session "${sessionId}"`, { sessionId });

/** Message for each end reason of a session. */
const endings: Record<EndReason, string> = {
  requested: 'was closed by its owner',
  idle: 'was closed because it was idle',
  max_age: 'was closed at its maximum age',
  reclaimed: 'ended because its machine was reclaimed by the provider',
  host_lost: 'ended because its host was lost',
  out_of_memory: 'ended because its host ran out of memory',
  provision_failed: 'could not be started',
  quota: 'was ended by a quota of its project',
};

const ended = ({ sessionId, state, endReason }: Route): Refusal => {
  const code = endReason === 'reclaimed' ? 'reclaimed' : state === 'FAILED' ? 'failed' : 'closed';
  const how = endReason === null ? 'has ended' : endings[endReason];
  return refusal(410, code, `${sessionId} ${how}; open another session`, {
    sessionId,
    state,
    endReason,
  });
};

const starting = ({ sessionId, state }: Route): Refusal =>
  later(503, 'provisioning', `${sessionId} is being started`, 1, { sessionId, state });

const byState: Record<Exclude<SessionState, 'READY'>, (route: Route) => Refusal> = {
  PROVISIONING: starting,
  CLOSING: ended,
  CLOSED: ended,
  FAILED: ended,
};

/** Returns the error for a session that cannot be reached in its state; undefined if the session is ready. */
export const refusalOf = (route: Route): Refusal | undefined =>
  route.state === 'READY' ? undefined : byState[route.state](route);

export const hostBrokeOff = (sessionId: string): Refusal =>
  refusal(
    502,
    'host_broke_off',
    `the host of ${sessionId} broke off the connection before it answered; the request may have taken effect`,
    { sessionId },
  );

export const hostUnreachable = (sessionId: string): Refusal =>
  refusal(
    502,
    'host_unreachable',
    `the host of ${sessionId} accepted no connection; the request was not sent`,
    {
      sessionId,
    },
  );

export const hostTooSlow = (sessionId: string, answerMs: number): Refusal =>
  refusal(
    504,
    'answer_timeout',
    `the host of ${sessionId} did not answer within ${answerMs / 1_000} s; the request may have taken effect`,
    { sessionId, answerMs },
  );

export const bodyTooLarge = (bodyBytes: number): Refusal =>
  refusal(
    413,
    'body_too_large',
    `the request's body is too large: at most ${bodyBytes} bytes are allowed`,
    { bodyBytes },
  );

export const headersTooLarge = (headerBytes: number): Refusal =>
  refusal(
    431,
    'headers_too_large',
    `the request's headers are too large: request line and headers may have ${headerBytes} bytes together`,
    {
      headerBytes,
    },
  );

export const tooManyRequests = (sessionId: string, perSession: number): Refusal =>
  later(
    429,
    'too_many_requests',
    `${sessionId} already has ${perSession} open requests, the maximum; try again when some have ended`,
    1,
    {
      sessionId,
      perSession,
    },
  );

export const clientTooSlow = (): Refusal =>
  refusal(408, 'request_timeout', 'the request did not arrive in time');

export const noTunnelHere = (): Refusal =>
  refusal(
    405,
    'method_not_allowed',
    'CONNECT is not supported: the gateway is not a forward proxy',
  );

export const noSuchExpectation = (): Refusal =>
  refusal(
    417,
    'expectation_failed',
    "the request's Expect header is not supported; only 100-continue is",
  );
