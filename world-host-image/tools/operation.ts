/**
 * A tool that is a route of the world's API by another door. Input members named like the route's
 * arguments are its arguments, the rest is the request's body; the answer's body is the output.
 */
import type { Row } from '#language/contract.ts';
import type { ActionContext } from '../api/actions/action.ts';
import { type ApiAnswer, bodyValue } from '../api/answer.ts';
import type { Arguments } from '../api/filter-values.ts';
import { pagingParams } from '../api/pages/page-request.ts';
import { actions, answerOfFailure } from '../api/perform.ts';
import { CallFailure } from '../calls/failure.ts';
import type { ToolContext } from './tool.ts';

const asArgument = (value: unknown): string | string[] =>
  Array.isArray(value) ? value.map(String) : String(value);

const splitInput = (input: Row, names: ReadonlySet<string>): { args: Arguments; body: Row } => {
  const members = Object.entries(input);
  const given = members.filter(([name, value]) => names.has(name) && value !== null);
  // Members are defined, not assigned: one may be called `__proto__`.
  return {
    args: Object.fromEntries(given.map(([name, value]) => [name, asArgument(value)])),
    body: Object.fromEntries(members.filter(([name]) => !names.has(name))),
  };
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
  const names = route.segments.flatMap((segment) =>
    'argument' in segment ? [segment.argument] : [],
  );
  const { args, body } = splitInput(
    input,
    new Set([...names, ...route.params.map(({ name }) => name), ...pagingParams(route.page, api)]),
  );
  const request = { method: route.method, path: route.path, headers: {} };
  return { session, contract, api, store, code, route, args, body, request };
};

/** Of a vendor's error body; all of it is in the details. */
const mostBodyChars = 1_000;

/** Why a route said no: what the host knows of it, else the vendor's own words. */
const messageOf = (operation: string, { body, reason, status }: ApiAnswer): string => {
  if (reason !== null) return reason;
  const words = body === null ? '' : `: ${body.slice(0, mostBodyChars)}`;
  return `${operation} answered ${status}${words}`;
};

/** Runs the route's action and answers its body. An error answer of the vendor fails the call. */
export const runOperation = async (context: ToolContext, operation: string): Promise<unknown> => {
  const action = actionContext(context, operation);
  const { api, route } = action;
  const performed = (async () => actions[route.action](action))();
  const answer = await performed.catch((error: unknown) => answerOfFailure(api, route, error));
  const body = bodyValue(answer);
  if (answer.status < 400) return body;
  throw new CallFailure({
    code: answer.status === 404 ? 'not_found' : 'refused',
    message: messageOf(operation, answer),
    details: { status: answer.status, body },
  });
};
