/**
 * A tool that is a route of the world's API by another door. Input members named like the route's
 * arguments are its arguments, the rest is the request's body; the answer's body is the output.
 */
import type { CallError } from '#domain/call.ts';
import { cut } from '#domain/cut.ts';
import { toPointer } from '#domain/json.ts';
import type { ApiContract, RouteContract, Row } from '#language/contract.ts';
import { pathArguments } from '#language/path-segments.ts';
import type { ActionContext } from '../../api/actions/action.ts';
import { type ApiAnswer, bodyValue } from '../../api/answers/answer.ts';
import { actions, answerOfFailure } from '../../api/perform.ts';
import { pagingParams } from '../../routes/arguments.ts';
import type { Arguments } from '../../routes/filter-values.ts';
import { CallFailure } from '../answers/failure.ts';
import type { ToolContext } from './tool.ts';

/** The arguments of a route by name, and how many values each takes. */
type Parameters = ReadonlyMap<string, 'one' | 'many'>;

const parametersOf = (route: RouteContract, api: ApiContract): Parameters =>
  new Map([
    ...pathArguments(route.segments).map((name) => [name, 'one'] as const),
    ...route.params.map(({ name, repeated }) => [name, repeated ? 'many' : 'one'] as const),
    ...pagingParams(route.page, api).map((name) => [name, 'one'] as const),
  ]);

const refuseArgument = (name: string, message: string): never => {
  throw new CallFailure({ code: 'invalid_input', message, path: toPointer([name]) });
};

/** A value as a request would carry it, in texts. */
const asArgument = (name: string, value: unknown, takes: 'one' | 'many'): string | string[] => {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  if (values.some((item) => typeof item === 'object' && item !== null)) {
    refuseArgument(name, `"${name}" is an argument of the route; it cannot be an object`);
  }
  if (takes === 'many') return values.map(String);
  return Array.isArray(value)
    ? refuseArgument(name, `"${name}" is an argument of the route that takes one value, not a list`)
    : String(value);
};

const splitInput = (input: Row, parameters: Parameters): { args: Arguments; body: Row } => {
  const args: [string, string | string[]][] = [];
  const body: [string, unknown][] = [];
  for (const [name, value] of Object.entries(input)) {
    const takes = parameters.get(name);
    if (takes === undefined) body.push([name, value]);
    else if (value !== null) args.push([name, asArgument(name, value, takes)]);
  }
  // Members are defined, not assigned: one may be called `__proto__`.
  return { args: Object.fromEntries(args), body: Object.fromEntries(body) };
};

/** A path without one of its arguments would be another path. */
const refuseGaps = (route: RouteContract, args: Arguments): void => {
  const missing = pathArguments(route.segments).find((name) => !Object.hasOwn(args, name));
  if (missing === undefined) return;
  refuseArgument(missing, `"${missing}" must be given: it is part of the path ${route.path}`);
};

const actionContext = (
  { session, contract, store, code, tool, input }: ToolContext,
  operation: string,
): ActionContext => {
  const { api } = contract;
  const route = api?.routes.find((candidate) => candidate.operation === operation);
  if (api == null || route === undefined) {
    throw new Error(`tool ${tool.name}: there is no operation "${operation}"`);
  }
  const { args, body } = splitInput(input, parametersOf(route, api));
  refuseGaps(route, args);
  const request = {
    method: route.method,
    path: route.path,
    headers: {},
    mediaType: 'application/json',
    contentType: body === undefined ? '' : 'application/json',
  };
  return { session, contract, api, store, code, route, args, body, request };
};

/** How much of a vendor's error body a message shows; all of it is in the details. */
const mostBodyChars = 1_000;

/** Why a route said no: what the host knows of it, else the vendor's own words. */
const messageOf = (operation: string, { body, reason, status }: ApiAnswer): string => {
  if (reason !== null) return reason;
  const words = body === null ? '' : `: ${cut(body, mostBodyChars)}`;
  return `${operation} answered ${status}${words}`;
};

/** An error answer of the vendor as the error of a call. */
export const errorOfAnswer = (operation: string, answer: ApiAnswer): CallError => ({
  code: answer.status === 404 ? 'not_found' : 'refused',
  message: messageOf(operation, answer),
  details: { status: answer.status, body: bodyValue(answer) },
});

/** Runs the route's action and answers its body. An error answer of the vendor fails the call. */
export const runOperation = async (context: ToolContext, operation: string): Promise<unknown> => {
  const action = actionContext(context, operation);
  const { api, route } = action;
  const performed = (async () => actions[route.action](action))();
  const answer = await performed.catch((error: unknown) => answerOfFailure(api, route, error));
  if (answer.status < 400) return bodyValue(answer);
  throw new CallFailure(errorOfAnswer(operation, answer));
};
