/**
 * Where the author's functions take part in a request. Action `handler`: a function answers, once the body
 * is one that the route declares. `[api] before`: one runs ahead of every route, in the transaction of the
 * request, for quotas and allow-lists; headers that it sets go with whatever the answer will be.
 */
import type { ApiContract } from '#language/contract.ts';
import { createRouteChecker, type RouteChecker } from '#language/schema/checkers.ts';
import { type ApiAnswer, FailedAction } from '../answers/answer.ts';
import { refusedRequest } from '../answers/refused-request.ts';
import type { Action, ActionContext } from './action.ts';
import { runAuthorFunction, valueAnswer } from './author-function.ts';

const checkers = new WeakMap<ApiContract, RouteChecker>();

const checkerOf = ({ api, contract }: ActionContext): RouteChecker => {
  const checker =
    checkers.get(api) ?? createRouteChecker({ api, definitions: contract.definitions });
  checkers.set(api, checker);
  return checker;
};

/**
 * No body counts as one without members. The values of a form are texts, whatever they stand for, so a
 * form is the handler's to look at, and so is a text of another type.
 */
const checkBody = (context: ActionContext): void => {
  const { api, body = {}, isForm = false, isText = false, route } = context;
  if (route.request === undefined || api.uncheckedRequests === true) return;
  if (isForm || isText) return;
  const [first] = checkerOf(context).request(route.operation, body);
  if (first === undefined) return;
  const place = first.pointer === '' ? 'the body' : first.pointer;
  throw new FailedAction(refusedRequest(api, `${place} ${first.detail}`, api.invalid.status));
};

export const handler: Action = async (context) => {
  const { route } = context;
  checkBody(context);
  const answered = await runAuthorFunction(context, 'handler', route.handler ?? '');
  return valueAnswer(answered.status ?? route.status, answered);
};

export type Before = {
  /** Its answer in the route's place; undefined lets the route answer. */
  answer: ApiAnswer | undefined;
  /** For every answer to the request. */
  headers: Record<string, string>;
};

/** What it decides. Throws `FailedAction` when it refuses the request. */
export const runBefore = async (context: ActionContext): Promise<Before> => {
  const { before } = context.api;
  if (before === null) return { answer: undefined, headers: {} };
  const answered = await runAuthorFunction(context, 'before', before);
  const { status, headers } = answered;
  return { answer: status === null ? undefined : valueAnswer(status, answered), headers };
};
