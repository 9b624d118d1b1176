/**
 * Answers one request to a session's API: checks the token, finds the route, reads arguments and body, and runs the
 * action. Returns the answer and the facts that the ledger records about it.
 */
import { limits } from '#domain/limits.ts';
import type { ApiContract, RouteContract } from '#language/contract.ts';
import { readArguments } from '../routes/arguments.ts';
import type { Arguments } from '../routes/filter-values.ts';
import { type RouteMatch, splitPath } from '../routes/router.ts';
import type { Met } from '../session/faults.ts';
import { nothingOutgoing } from '../session/outbox.ts';
import type { Session } from '../session/session.ts';
import { type ApiAnswer, jsonAnswer, serveAnswer, vendorAnswer } from './answers/answer.ts';
import { answerConditionally } from './answers/conditional.ts';
import { negotiate } from './answers/media-types.ts';
import { refusedRequest } from './answers/refused-request.ts';
import { refusalOf, tokensIn } from './auth.ts';
import { answerPrevented, isPrevented } from './faulted.ts';
import { answerTokenRequest, isTokenPath, isTokenRequest, tokenOperation } from './oauth.ts';
import { performAction } from './perform.ts';
import type { ApiOutcome, ApiRequest } from './requests/api-request.ts';
import { bodyTypeOf, parseBody } from './requests/body.ts';
import { withoutCredential } from './requests/credential.ts';
import { type Mount, mountOf, pathBelow } from './requests/mount.ts';

type Answered = Omit<ApiOutcome, 'sent'>;

type FoundRoute = Extract<RouteMatch, { kind: 'route' }>;

/** Returns true if the route ignores a body, as vendors do for methods that need none. Such a body may be malformed. */
const ignoresBody = ({ action, method }: RouteContract): boolean =>
  action === 'read' || action === 'delete' || method === 'GET';

/** Returns a 500. The stack trace goes to the ledger and not to the client, who could do nothing with it. */
const faultAnswer = (fault: unknown): ApiAnswer => ({
  ...jsonAnswer(500, '{"message":"internal error"}'),
  reason: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault),
});

const nothing = {
  operation: null,
  authorized: false,
  body: null,
  changes: {},
  rows: [],
  outgoing: nothingOutgoing(),
};

type Sent = { body: unknown; args: Arguments; bytes: Buffer };

/**
 * Returns body and arguments with this host's addresses replaced by the vendor's. `args` is undefined if the
 * replacement makes the request larger than a body may be.
 */
const takeBackAll = (
  addresses: Mount['addresses'],
  { body, args, bytes }: Sent,
): { body: unknown; args: Arguments | undefined } => {
  if (addresses === undefined) return { body, args };
  const growthBytes = limits.bodyBytes - bytes.length;
  const walked = addresses.mayOccurIn(bytes) ? { body, args } : { args };
  const taken = addresses.restore(walked, growthBytes) as Partial<Sent> | undefined;
  return taken === undefined ? { body: null, args: undefined } : { body, args, ...taken };
};

/** Answers a request that a fault prevents. The body is read only to record it. */
const answerFaulted = async (
  session: Session,
  api: ApiContract,
  route: RouteContract,
  request: ApiRequest,
  met: Met,
): Promise<Answered> => {
  const bytes = await request.readBody();
  const parsed = bytes === undefined ? undefined : parseBody(bytes, request.headers, route);
  const body = parsed === undefined ? null : parsed.ok ? parsed.value : parsed.text;
  const answer = await answerPrevented(session, api, route, met);
  const { operation } = route;
  return { ...nothing, authorized: true, operation, body, answer, met };
};

/** Facts about a request: its mount, the declared faults that apply to it, and its credentials. */
type RequestPlace = { mount: Mount; met: Met | undefined; bearers: readonly string[] };

const answerRoute = async (
  session: Session,
  api: ApiContract,
  { route, pathArguments }: FoundRoute,
  request: ApiRequest,
  { mount: { addresses }, met, bearers }: RequestPlace,
): Promise<Omit<Answered, 'authorized'>> => {
  const { contract, store, code } = session.world;
  const { method, path, headers, query } = request;
  const noted = {
    operation: route.operation,
    ...(met === undefined ? {} : { met }),
    ...{ changes: {}, rows: [], outgoing: nothingOutgoing() },
  };
  const refused = (reason: string, body: unknown, status: number) => ({
    ...noted,
    body,
    answer: refusedRequest(api, reason, status),
  });
  const negotiated = negotiate(api, route, headers.accept);
  if ('refusal' in negotiated) {
    return refused(negotiated.refusal, null, api.notAcceptableStatus ?? 406);
  }
  const bytes = await request.readBody();
  if (bytes === undefined) return refused('the body is over the limit of 1 MiB', null, 413);
  const parsed = parseBody(bytes, headers, route);
  if (!parsed.ok && !ignoresBody(route)) return refused(parsed.reason, parsed.text, parsed.status);
  const { body, args } = takeBackAll(addresses, {
    body: parsed.ok ? parsed.value : parsed.text,
    args: readArguments(api, route, pathArguments, query),
    bytes,
  });
  if (args === undefined) {
    const reason = 'the request is over the limit of 1 MiB with the addresses as they are kept';
    return refused(reason, null, 413);
  }
  try {
    const { answer, ...performed } = await performAction({
      session,
      contract,
      api,
      store,
      code,
      route,
      args,
      ...(parsed.ok
        ? { body, isForm: parsed.isForm, isText: parsed.isText === true }
        : { body: undefined }),
      links: request,
      bearers,
      ...(met === undefined ? {} : { limits: met.limits }),
      request: {
        method,
        path,
        headers,
        ...negotiated,
        contentType: bytes.length === 0 ? '' : bodyTypeOf(headers, route.bodyTypes),
      },
    });
    const conditional = answerConditionally(route, answer, method, headers);
    return { ...noted, body, ...performed, answer: conditional };
  } catch (fault) {
    return { ...noted, body, fault, answer: faultAnswer(fault) };
  }
};

const methodAnswer = (api: ApiContract, method: string, allowed: readonly string[]): ApiAnswer => {
  const headers = { allow: allowed.join(', ') };
  if (method === 'OPTIONS') return { ...jsonAnswer(204, null), headers };
  return { ...refusedRequest(api, `the path does not take ${method}`, 405), headers };
};

/** Returns the methods that a path allows, for a request whose method has no route at that path. */
const allowedOf = (
  found: Exclude<RouteMatch, FoundRoute>,
  mintsTokens: boolean,
): readonly string[] => {
  const ofRoutes = found.kind === 'unknown' ? [] : found.allowed;
  return mintsTokens ? [...new Set([...ofRoutes, 'OPTIONS', 'POST'])].sort() : ofRoutes;
};

/** Answers a request to the session's API. Throws when the client disconnects before its body is complete. */
export const answerRequest = async (
  session: Session,
  received: ApiRequest,
): Promise<ApiOutcome> => {
  const { api } = session.world.contract;
  if (api === null) {
    const answer = jsonAnswer(404, '{"message":"this world serves no API"}');
    return { ...nothing, answer, sent: answer };
  }
  const mount = mountOf(session, api, received);
  const outcome = await answerAt(session, api, received, mount);
  const { addresses } = mount;
  const { answer } = outcome;
  return { ...outcome, sent: addresses === undefined ? answer : serveAnswer(addresses, answer) };
};

const answerAt = async (
  session: Session,
  api: ApiContract,
  received: ApiRequest,
  mount: Mount,
): Promise<Answered> => {
  const path = pathBelow(received, mount, api);
  if (isTokenRequest(api, { method: received.method, path })) {
    const answered = await answerTokenRequest(session, api, received);
    return { ...nothing, operation: tokenOperation, ...answered };
  }
  const refusal = refusalOf(session, api, received);
  if (refusal !== undefined) return { ...nothing, answer: refusal };
  const request = withoutCredential(api, received);
  const known = { ...nothing, authorized: true };
  const segments = splitPath(path);
  if (segments === undefined) {
    return { ...known, answer: refusedRequest(api, 'the path has an invalid percent-escape', 400) };
  }
  const found = session.world.router.match(request.method, segments);
  if (found.kind === 'route') {
    const met = session.faults.meet(found.route);
    if (met !== undefined && isPrevented(met)) {
      return answerFaulted(session, api, found.route, request, met);
    }
    const bearers = tokensIn(api, received);
    const answered = await answerRoute(session, api, found, request, { mount, met, bearers });
    return { ...answered, authorized: true };
  }
  const allowed = allowedOf(found, isTokenPath(api, path));
  return allowed.length === 0
    ? { ...known, answer: vendorAnswer(api, api.notFound, 'no route has this path') }
    : { ...known, answer: methodAnswer(api, request.method, allowed) };
};
