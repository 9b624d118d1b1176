/**
 * Answers one request to a session's API: token, route, arguments, body, action. What comes back is
 * the answer with what the ledger wants to know about it.
 */
import type { ChangeCounts } from '#domain/call.ts';
import type { ApiContract, RouteContract } from '#language/contract.ts';
import type { Delivery } from '../session/outbox.ts';
import type { Session } from '../session/session.ts';
import { type ApiAnswer, jsonAnswer, vendorAnswer } from './answer.ts';
import { refusalOf } from './auth.ts';
import { withoutCredential } from './credential.ts';
import type { Arguments } from './filter-values.ts';
import { answerTokenRequest, isTokenRequest } from './oauth.ts';
import { performAction } from './perform.ts';
import { splitPath } from './router.ts';

export type ApiRequest = {
  method: string;
  /** As sent, without the query. */
  path: string;
  query: URLSearchParams;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Undefined when the body is over the limit. */
  readBody(): Promise<string | undefined>;
};

export type ApiOutcome = {
  answer: ApiAnswer;
  /** The route's name, when one was found. */
  operation: string | null;
  /** Whether the request carried a valid credential. */
  authorized: boolean;
  /** As parsed, or the text that could not be. */
  body: unknown;
  changes: ChangeCounts;
  /** Webhooks that the request sent. */
  deliveries: Delivery[];
};

const readArguments = (
  route: RouteContract,
  pathArguments: Record<string, string>,
  query: URLSearchParams,
): Arguments => {
  const args: Record<string, string | string[]> = { ...pathArguments };
  for (const { name, repeated } of route.params) {
    const values = [...query.getAll(name), ...(repeated ? query.getAll(`${name}[]`) : [])];
    const last = values.at(-1);
    if (last !== undefined) args[name] = repeated ? values : last;
  }
  return args;
};

type ParsedBody = { ok: true; value: unknown } | { ok: false };

const parseBody = (text: string): ParsedBody => {
  if (text.trim() === '') return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false }; // what the client sent is no JSON, which its answer says
  }
};

const answerRoute = async (
  session: Session,
  api: ApiContract,
  route: RouteContract,
  pathArguments: Record<string, string>,
  request: ApiRequest,
): Promise<Omit<ApiOutcome, 'authorized'>> => {
  const { world } = session;
  const noted = { operation: route.operation, changes: {}, deliveries: [] };
  const refuse = (reason: string, body: unknown, status?: number) => ({
    ...noted,
    body,
    answer: vendorAnswer(api, api.invalid, reason, status),
  });
  const text = await request.readBody();
  if (text === undefined) return refuse('the body is over the limit of 1 MiB', null, 413);
  const body = parseBody(text);
  if (!body.ok) return refuse('the body is not JSON', text);
  const performed = await performAction({
    session,
    contract: world.contract,
    api,
    store: world.store,
    code: world.code,
    route,
    args: readArguments(route, pathArguments, request.query),
    body: body.value,
    request: {
      method: request.method,
      path: request.path,
      headers: request.headers,
    },
  });
  return { ...noted, body: body.value, ...performed };
};

/** Throws only for faults of the host. */
export const answerRequest = async (
  session: Session,
  received: ApiRequest,
): Promise<ApiOutcome> => {
  const { api } = session.world.contract;
  const nothing = { operation: null, authorized: false, body: null, changes: {}, deliveries: [] };
  if (api === null) {
    return { ...nothing, answer: jsonAnswer(404, '{"message":"this world serves no API"}') };
  }
  if (isTokenRequest(api, received)) {
    return { ...nothing, ...(await answerTokenRequest(session, api, received)) };
  }
  const refusal = refusalOf(session, api, received);
  if (refusal !== undefined) return { ...nothing, answer: refusal };
  const request = withoutCredential(api, received);
  const known = { ...nothing, authorized: true };
  const segments = splitPath(request.path);
  if (segments === undefined) {
    return { ...known, answer: vendorAnswer(api, api.invalid, 'the path has a broken escape') };
  }
  const found = session.world.router.match(request.method, segments);
  switch (found.kind) {
    case 'unknown':
      return { ...known, answer: vendorAnswer(api, api.notFound, 'no route has this path') };
    case 'method_not_allowed': {
      const answer = jsonAnswer(405, '{"message":"Method Not Allowed"}');
      const headers = { allow: found.allowed.join(', ') };
      return { ...known, answer: { ...answer, headers, reason: `not ${request.method}` } };
    }
    case 'route': {
      const { route, pathArguments } = found;
      const outcome = await answerRoute(session, api, route, pathArguments, request);
      return { ...outcome, authorized: true };
    }
  }
};
