/**
 * `[api] before`: the author's function that runs ahead of every route, in the transaction of the
 * request, for quotas and allow-lists. Headers that it sets go with whatever the answer will be.
 */
import type { ActionContext } from './actions/action.ts';
import { runAuthorFunction, valueAnswer } from './actions/author-function.ts';
import type { ApiAnswer } from './answers/answer.ts';

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
