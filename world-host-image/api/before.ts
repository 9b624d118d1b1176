/**
 * `[api] before`: the author's function that runs ahead of every route, in the transaction of the
 * request, for quotas and allow-lists.
 */
import type { ActionContext } from './actions/action.ts';
import { runAuthorFunction, valueAnswer } from './actions/author-function.ts';
import type { ApiAnswer } from './answer.ts';

/** Its answer in the route's place; undefined lets the route answer. Throws `FailedAction`. */
export const runBefore = async (context: ActionContext): Promise<ApiAnswer | undefined> => {
  const { before } = context.api;
  if (before === null) return undefined;
  const { status, value, headers } = await runAuthorFunction(context, 'before', before);
  return status === null ? undefined : valueAnswer(status, value, headers);
};
