/**
 * Answers one request to a session's API: token, route, arguments, body, action. What comes back is
 * the answer with what the ledger wants to know about it.
 */
import type { ChangeCounts } from '#domain/call.ts';
import type { ApiContract, RouteContract } from '#language/contract.ts';
import type { RowChange } from '#store/write-set.ts';
import type { Delivery } from '../session/outbox.ts';
import type { Session } from '../session/session.ts';
import { type ApiAnswer, jsonAnswer, vendorAnswer } from './answer.ts';
import { readArguments } from './arguments.ts';
import { refusalOf } from './auth.ts';
import { parseBody } from './body.ts';
import { answerConditionally } from './conditional.ts';
import { withoutCredential } from './credential.ts';
import { answerTokenRequest, isTokenRequest, tokenOperation } from './oauth.ts';
import { performAction } from './perform.ts';
import { refusedRequest } from './refused-request.ts';
import { type RouteMatch, splitPath } from './router.ts';

export type ApiRequest = {
  method: string;
  /** As sent, without the query. */
  path: string;
  query: URLSearchParams;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Undefined when the body is over the limit. */
  readBody(): Promise<Buffer | undefined>;
};

export type ApiOutcome = {
  answer: ApiAnswer;
  /** The route's name, or that of requests for tokens; null when no route was found. */
  operation: string | null;
  /** Whether the request carried a valid credential. */
  authorized: boolean;
  /** As parsed, or the text that could not be. */
  body: unknown;
  changes: ChangeCounts;
  rows: RowChange[];
  /** Webhooks that the request sent. */
  deliveries: Delivery[];
};

type FoundRoute = Extract<RouteMatch, { kind: 'route' }>;

/** Vendors ignore a body where they want none, so there it need not be one that can be read. */
const ignoresBody = ({ action, method }: RouteContract): boolean =>
  action === 'read' || action === 'delete' || method === 'GET';

const answerRoute = async (
  session: Session,
  api: ApiContract,
  { route, pathArguments }: FoundRoute,
  request: ApiRequest,
): Promise<Omit<ApiOutcome, 'authorized'>> => {
  const { contract, store, code } = session.world;
  const { method, path, headers, query } = request;
  const noted = { operation: route.operation, changes: {}, rows: [], deliveries: [] };
  const refuse = (reason: string, body: unknown, status: number) => ({
    ...noted,
    body,
    answer: refusedRequest(api, reason, status),
  });
  const bytes = await request.readBody();
  if (bytes === undefined) return refuse('the body is over the limit of 1 MiB', null, 413);
  const parsed = parseBody(bytes, headers);
  if (!parsed.ok && !ignoresBody(route)) return refuse(parsed.reason, parsed.text, parsed.status);
  const { answer, ...performed } = await performAction({
    session,
    contract,
    api,
    store,
    code,
    route,
    args: readArguments(api, route, pathArguments, query),
    ...(parsed.ok ? { body: parsed.value, isForm: parsed.isForm } : { body: undefined }),
    links: request,
    request: { method, path, headers },
  });
  return {
    ...noted,
    body: parsed.ok ? parsed.value : parsed.text,
    ...performed,
    answer: answerConditionally(answer, method, headers['if-none-match']),
  };
};

const methodAnswer = (api: ApiContract, method: string, allowed: string[]): ApiAnswer => {
  const headers = { allow: allowed.join(', ') };
  if (method === 'OPTIONS') return { ...jsonAnswer(204, null), headers };
  return { ...refusedRequest(api, `the path does not take ${method}`, 405), headers };
};

/** Throws only for faults of the host. */
export const answerRequest = async (
  session: Session,
  received: ApiRequest,
): Promise<ApiOutcome> => {
  const { contract, router } = session.world;
  const { api } = contract;
  const nothing = {
    operation: null,
    authorized: false,
    body: null,
    changes: {},
    rows: [],
    deliveries: [],
  };
  if (api === null) {
    return { ...nothing, answer: jsonAnswer(404, '{"message":"this world serves no API"}') };
  }
  if (isTokenRequest(api, received)) {
    const answered = await answerTokenRequest(session, api, received);
    return { ...nothing, operation: tokenOperation, ...answered };
  }
  const refusal = refusalOf(session, api, received);
  if (refusal !== undefined) return { ...nothing, answer: refusal };
  const request = withoutCredential(api, received);
  const known = { ...nothing, authorized: true };
  const segments = splitPath(request.path);
  if (segments === undefined) {
    return { ...known, answer: refusedRequest(api, 'the path has a broken escape', 400) };
  }
  const found = router.match(request.method, segments);
  switch (found.kind) {
    case 'unknown':
      return { ...known, answer: vendorAnswer(api, api.notFound, 'no route has this path') };
    case 'method_not_allowed':
      return { ...known, answer: methodAnswer(api, request.method, found.allowed) };
    case 'route':
      return { ...(await answerRoute(session, api, found, request)), authorized: true };
  }
};
