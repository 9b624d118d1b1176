/**
 * Runs the author's functions for a request. The action `handler` checks the body against the route's schema, then a
 * function answers. `[api] before` runs ahead of every route, in the request's transaction, for quotas and
 * allow-lists. Headers that it sets are added to every answer of the request.
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
 * Returns the answer for a body that does not fit the route's schema; undefined if it fits. A missing body counts as
 * an empty object. Forms and other text are not checked: values of a form are always strings, so the handler has to
 * parse them.
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
  /** Answer that `before` gives instead of the route; undefined if the route itself has to answer. */
  answer: ApiAnswer | undefined;
  /**
   * Returns the answer of the route's handler, or throws `FailedAction` if the handler failed. This function is
   * undefined if the worker did not run the handler together with `before`.
   */
  handled: (() => ApiAnswer) | undefined;
  /** Headers that `before` set; every answer to the request gets them. */
  headers: Record<string, string>;
};

/** Returns the handler to run right after `before`; undefined if the route has none or would reject the body. */
const handlerAfter = (context: ActionContext): string | undefined => {
  const { action, handler: name = null } = context.route;
  if (action !== 'handler' || name === null) return undefined;
  return refusalOfBody(context) === undefined ? name : undefined;
};

/** Runs `before` and returns its decision. Throws `FailedAction` if it rejects the request. */
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
