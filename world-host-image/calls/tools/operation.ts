/**
 * Runs a tool that is bound to a route of the world's API. Input members that are named like the route's arguments
 * become those arguments; the other members become the body. The body of the answer is the tool's output.
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

/** Arguments of a route by name, with the number of values that each takes. */
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

/** Returns a value as the text that it would have in a request. */
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
  // `fromEntries` defines members rather than assigning them, so that `__proto__` is an ordinary name.
  return { args: Object.fromEntries(args), body: Object.fromEntries(body) };
};

/** Throws if an argument of the path is missing, since the request would then have a different path. */
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

/** Maximum number of characters of a vendor's error body in a message; the details contain the whole body. */
const mostBodyChars = 1_000;

/** Returns why a route failed: the host's reason if there is one, else the vendor's error. */
const messageOf = (operation: string, { body, reason, status }: ApiAnswer): string => {
  if (reason !== null) return reason;
  const words = body === null ? '' : `: ${cut(body, mostBodyChars)}`;
  return `${operation} answered ${status}${words}`;
};

/** Converts a vendor's error answer to the error of a call. */
export const errorOfAnswer = (operation: string, answer: ApiAnswer): CallError => ({
  code: answer.status === 404 ? 'not_found' : 'refused',
  message: messageOf(operation, answer),
  details: { status: answer.status, body: bodyValue(answer) },
});

/** Runs the route's action and returns its body. Throws `CallFailure` for an error answer of the vendor. */
export const runOperation = async (context: ToolContext, operation: string): Promise<unknown> => {
  const action = actionContext(context, operation);
  const { api, route } = action;
  const performed = (async () => actions[route.action](action))();
  const answer = await performed.catch((error: unknown) => answerOfFailure(api, route, error));
  if (answer.status < 400) return bodyValue(answer);
  throw new CallFailure(errorOfAnswer(operation, answer));
};
