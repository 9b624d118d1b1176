/**
 * Serves one request: finds its surface, checks access, looks up the route, checks the host's address, and relays the
 * exchange. If a host accepts no connection, the session may have moved. The gateway then looks up the route again, and
 * sends the request a second time only if the route has changed.
 */
import type { Agent } from 'node:http';
import type { SurfaceTemplate } from '#domain/surface-address.ts';
import type { Log } from '#runtime/log.ts';
import {
  noSuchSurface,
  refusalPage,
  routeUnknown,
  surfaceAway,
  wantsPage,
} from '#runtime/surface-refusal.ts';
import { isEntered, type SurfaceAccess } from '../entry/enter.ts';
import { readVisitor, requestHeaders } from '../http/forwarded-headers.ts';
import type { Limits } from '../http/limits.ts';
import {
  badRequest,
  bodyTooLarge,
  clientTooSlow,
  hostBrokeOff,
  hostTooSlow,
  hostUnreachable,
  noSuchSession,
  type Refusal,
  refusalOf,
  tooManyRequests,
} from '../http/refusals.ts';
import type { Refuser } from '../http/refuser.ts';
import { answeredStatus, type Failure, relay } from '../http/relay.ts';
import type { Arrival } from '../http/server.ts';
import { splice } from '../http/splice.ts';
import { isSafe, type SurfaceTarget, valuesOf } from '../http/target.ts';
import type { Upstream, Upstreams } from '../http/upstreams.ts';
import type { Found, RouteTable } from '../routes/route-table.ts';
import type { FirstRequests } from './first-requests.ts';
import { countRequest, type Metrics } from './metrics.ts';
import type { Visit, Visits } from './visits.ts';

export type ServeParts = {
  limits: Limits;
  /** Number of proxies in front of the gateway whose `X-Forwarded-*` headers are trusted. */
  trustedHops: number;
  template: SurfaceTemplate;
  routes: RouteTable;
  upstreams: Upstreams;
  visits: Visits;
  access: SurfaceAccess;
  /** Returns the name of a session's pass cookie. That cookie is not sent to hosts. */
  passCookie(sessionId: string): string;
  /** Agent that keeps connections to hosts. */
  agent: Agent;
  refuser: Refuser;
  isStopping(): boolean;
  /** Called with a session when a tunnel to it has been established. */
  onTunnel(sessionId: string): void;
  firstRequests: FirstRequests;
  metrics: Metrics;
  log: Log;
};

/** Address of a surface, and the key that its host requires of requests there. */
type Reached = { address: string; upstream: Upstream; entryKey?: string | undefined };
type Destination = Reached | { refusal: Refusal };

/** Returns the address of the requested surface, or the error to answer if it has none. */
const destinationOf = (
  { upstreams, log }: Pick<ServeParts, 'upstreams' | 'log'>,
  found: Found,
  { sessionId, surface }: SurfaceTarget,
): Destination => {
  if (found.kind === 'unknown') return { refusal: routeUnknown(sessionId) };
  if (found.kind === 'none') return { refusal: noSuchSession(sessionId) };
  const refusal = refusalOf(found.route);
  if (refusal !== undefined) return { refusal };
  const address = found.route.surfaces[surface];
  if (address === undefined) {
    const isWaiting = found.route.waiting?.includes(surface) === true;
    const refusal = isWaiting ? surfaceAway(sessionId, surface) : noSuchSurface(sessionId, surface);
    return { refusal };
  }
  const destination = upstreams.find(address);
  if ('upstream' in destination) {
    const entryKey = isEntered(surface) ? found.route.entryKeys?.[surface] : undefined;
    return { address, entryKey, ...destination };
  }
  log.warn(
    { sessionId, address, ...destination },
    'a route names an address that no host can have; nothing is sent',
  );
  return { refusal: hostUnreachable(sessionId) };
};

/** Failure that the gateway has to answer with an error. */
type Unanswered = Exclude<Failure, { kind: 'dropped' }>;

const refusalFor = (failure: Unanswered, sessionId: string, limits: Limits): Refusal => {
  switch (failure.kind) {
    case 'unsent':
      return hostUnreachable(sessionId);
    case 'broke_off':
      return hostBrokeOff(sessionId);
    case 'host_slow':
      return hostTooSlow(sessionId, limits.answerMs);
    case 'client_slow':
      return clientTooSlow();
    case 'too_large':
      return bodyTooLarge(limits.bodyBytes);
  }
};

/** Sends the request to an address. If the host drops the connection on purpose, the client's is dropped as well. */
const send = async (
  parts: ServeParts,
  { request, response, expectsContinue, upgrade }: Arrival,
  target: SurfaceTarget,
  visit: Visit,
  { address, upstream, entryKey }: Reached,
): Promise<Unanswered | undefined> => {
  const { limits, trustedHops, template, agent, isStopping, passCookie } = parts;
  const failure = await relay({
    request,
    response,
    upstream,
    path: target.path,
    headers: requestHeaders(request, {
      host: target.host,
      visitor: readVisitor(request, { trustedHops, scheme: template.scheme }),
      hiddenCookie: isEntered(target.surface) ? passCookie(target.sessionId) : undefined,
      entryKey,
      expectsContinue,
      upgrade: upgrade?.protocol,
    }),
    agent,
    limits,
    expectsContinue,
    isLast: isStopping,
    ...(upgrade === undefined
      ? {}
      : {
          onUpgrade(answer, host, hostHead) {
            const { socket, head } = upgrade;
            response.detachSocket(socket);
            const client = { socket, head };
            const cut = splice({ client, host: { socket: host, head: hostHead }, answer, limits });
            visit.becomeTunnel(address, cut);
            parts.onTunnel(target.sessionId);
          },
        }),
  });
  if (failure?.kind !== 'dropped') return failure;
  response.destroy();
  return undefined;
};

const faultOf = ({ request, upgrade }: Arrival, limits: Limits): Refusal | undefined => {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > limits.bodyBytes) return bodyTooLarge(limits.bodyBytes);
  const hasBody = length > 0 || request.headers['transfer-encoding'] !== undefined;
  if (upgrade === undefined || !hasBody) return undefined;
  return badRequest('a request that switches the protocol must not have a body');
};

const noteAnswer = (
  { firstRequests }: ServeParts,
  { request, response }: Arrival,
  { sessionId, surface }: SurfaceTarget,
  times: { beganMs: number; routedMs: number },
): undefined => {
  const status = answeredStatus(response);
  if (status === undefined) return; // the client has gone
  const causedBy = valuesOf(request, 'traceparent')[0];
  firstRequests.note({ sessionId, surface, status, causedBy, ...times });
};

/**
 * Chooses the error to answer to a failed request, from the kind of the failure and the current state of the session.
 */
const judgeFailure = (
  { request }: Arrival,
  failure: Unanswered,
  now: Destination,
  refusal: Refusal,
): Refusal => {
  if (!('refusal' in now) || now.refusal.code === 'route_unknown') return refusal;
  // A request that may have taken effect must not be answered with an invitation to retry.
  const mayRepeat = failure.kind === 'unsent' || isSafe(request.method);
  return mayRepeat || now.refusal.retryAfterS === undefined ? now.refusal : refusal;
};

/** Relays the exchange with the host. Resolves with the error to answer if the host did not answer. */
const exchange = async (
  parts: ServeParts,
  arrival: Arrival,
  target: SurfaceTarget,
  visit: Visit,
): Promise<Refusal | undefined> => {
  const { limits, routes, log } = parts;
  const { sessionId } = target;
  const beganMs = Date.now();
  const destination = destinationOf(parts, await routes.find(sessionId), target);
  if ('refusal' in destination) return destination.refusal;
  const routedMs = Date.now();
  if (arrival.request.socket.destroyed) return undefined;
  let failure = await send(parts, arrival, target, visit, destination);
  if (failure === undefined) return noteAnswer(parts, arrival, target, { beganMs, routedMs });
  const isHosts = failure.kind === 'unsent' || failure.kind === 'broke_off';
  if (!isHosts) return refusalFor(failure, sessionId, limits);
  const now = destinationOf(parts, await routes.refresh(sessionId), target);
  if (failure.kind === 'unsent' && 'address' in now && now.address !== destination.address) {
    failure = await send(parts, arrival, target, visit, now);
  }
  if (failure === undefined) return noteAnswer(parts, arrival, target, { beganMs, routedMs });
  const hostFault = refusalFor(failure, sessionId, limits);
  const refusal = judgeFailure(arrival, failure, now, hostFault);
  if (refusal === hostFault) {
    const err = 'cause' in failure ? failure.cause : undefined;
    log.warn({ sessionId, kind: failure.kind, err }, 'a host failed');
  }
  return refusal;
};

/** Serves a request for a surface to its end. An error that it throws is a fault of the gateway itself. */
export const serveSurface = async (
  parts: ServeParts,
  arrival: Arrival,
  target: SurfaceTarget,
): Promise<void> => {
  const { limits, access, visits, metrics, refuser } = parts;
  const { request, response, upgrade } = arrival;
  const { sessionId, surface } = target;
  countRequest(metrics, arrival, surface);
  const answerRefusal = (refusal: Refusal | undefined): void => {
    if (refusal === undefined) return;
    const { method, headers } = request;
    const isPage = surface !== 'api' && wantsPage(method, headers.accept);
    refuser.answer(request, response, refusal, { page: isPage ? refusalPage(refusal) : undefined });
  };
  if (access.isOwn(target)) return answerRefusal(await access.enter(request, response, target));
  const fault = access.check(request, target, upgrade !== undefined) ?? faultOf(arrival, limits);
  if (fault !== undefined) return answerRefusal(fault);
  const visit = visits.enter(sessionId);
  if (visit === undefined) return answerRefusal(tooManyRequests(sessionId, limits.perSession));
  // After a protocol switch the connection outlives the response, so the end of the socket counts.
  (upgrade?.socket ?? response).once('close', () => visit.leave());
  answerRefusal(await exchange(parts, arrival, target, visit));
};
