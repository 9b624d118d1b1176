/**
 * Where the author's functions take part in a request. Action `handler`: a function answers, once the body
 * is one that the route declares. `[api] before`: one runs ahead of every route, in the transaction of the
 * request, for quotas and allow-lists; headers that it sets go with whatever the answer will be.
 */
import type { ApiContract } from '#language/contract.ts';
import { createRouteChecker, type RouteChecker } from '#language/schema/checkers.ts';
import { type ApiAnswer, FailedAction } from '../answers/answer.ts';
import { invalidWords, wrongAt } from '../answers/invalid-answer.ts';
import { refusedRequest } from '../answers/refused-request.ts';
import type { Action, ActionContext } from './action.ts';
import {
  type FunctionAnswer,
  runBeforeHandler,
  runHandler,
  valueAnswer,
} from './author-function.ts';

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
const refusalOfBody = (context: ActionContext): ApiAnswer | undefined => {
  const { api, body = {}, isForm = false, isText = false, route } = context;
  if (route.request === undefined || api.uncheckedRequests === true) return undefined;
  if (isForm || isText) return undefined;
  const problems = checkerOf(context).request(route.operation, body);
  const [first] = problems;
  if (first === undefined) return undefined;
  const place = first.pointer === '' ? 'the body' : first.pointer;
  const words = invalidWords(api, 'shape');
  const wrongs = problems.map(({ pointer, detail }) => wrongAt(route, pointer, detail));
  return refusedRequest(api, `${place} ${first.detail}`, words.status, { words, wrongs });
};

const answerOfHandler = ({ route }: ActionContext, answered: FunctionAnswer): ApiAnswer =>
  valueAnswer(answered.status ?? route.status, answered);

export const handler: Action = async (context) => {
  const refusal = refusalOfBody(context);
  if (refusal !== undefined) throw new FailedAction(refusal);
  return answerOfHandler(context, await runHandler(context, context.route.handler ?? ''));
};

export type Before = {
  /** Its answer in the route's place; undefined lets the route answer. */
  answer: ApiAnswer | undefined;
  /** The answer of the route's handler, where that was run with it; throws `FailedAction` when it failed. */
  handled: (() => ApiAnswer) | undefined;
  /** For every answer to the request. */
  headers: Record<string, string>;
};

/** The handler that answers once `before` lets it. */
const handlerAfter = (context: ActionContext): string | undefined => {
  const { action, handler: name = null } = context.route;
  if (action !== 'handler' || name === null) return undefined;
  return refusalOfBody(context) === undefined ? name : undefined;
};

/** What it decides. Throws `FailedAction` when it refuses the request. */
export const runBefore = async (context: ActionContext, name: string): Promise<Before> => {
  const ran = await runBeforeHandler(context, name, handlerAfter(context));
  const { status, headers } = ran.before;
  const { handler: handled } = ran;
  return {
    answer: status === null ? undefined : valueAnswer(status, ran.before),
    handled: handled && (() => answerOfHandler(context, handled())),
    headers,
  };
};
