/** Action `handler`: the author's function answers. */
import type { Action } from './action.ts';
import { runAuthorFunction, valueAnswer } from './author-function.ts';

export const handler: Action = async (context) => {
  const { route } = context;
  const { status, value, headers } = await runAuthorFunction(
    context,
    'handler',
    route.handler ?? '',
  );
  return valueAnswer(status ?? route.status, value, headers);
};
