/**
 * Where kept answers take part in a request: one is looked for in its turn, and what the author's code
 * answers is kept, good or not, unless something went wrong. `[api] before` is part of what is kept.
 */
import { nothingSeen } from '../session/seen.ts';
import type { Session } from '../session/session.ts';
import type { ActionContext } from './actions/action.ts';
import { type ApiAnswer, FailedAction } from './answers/answer.ts';
import { createKeptAnswers, type KeptAnswer, type KeptAnswers } from './answers/kept-answers.ts';

type Headers = Record<string, string>;

/** Of sessions that are served; gone when nothing else knows the session. */
const keptAnswers = new WeakMap<Session, KeptAnswers>();

const keptOf = (session: Session): KeptAnswers => {
  const kept = keptAnswers.get(session) ?? createKeptAnswers(session.world.store.versions);
  keptAnswers.set(session, kept);
  return kept;
};

/** Whether the request may have an answer that is kept. A body would be part of what it depends on. */
export const mayBeKept = ({ body, route }: ActionContext): boolean =>
  route.keepsAnswer === true && body === undefined;

/** To be asked while no transaction is under way but the request's own, in which nothing was done. */
export const findKept = (context: ActionContext): KeptAnswer | undefined =>
  keptOf(context.session).find(context);

/** The kept answer, or else what `run` answers, which is kept. `common` takes the headers of `before`. */
export const keeping = async (
  context: ActionContext,
  common: Headers,
  run: (context: ActionContext, common: Headers) => Promise<ApiAnswer>,
): Promise<ApiAnswer> => {
  const found = findKept(context);
  if (found !== undefined) {
    Object.assign(common, found.common);
    return found.answer;
  }
  const seen = nothingSeen();
  const set: Headers = {};
  const keep = (answer: ApiAnswer): void => {
    // A reason is one of the host's: the code failed.
    if (answer.reason === null)
      keptOf(context.session).keep(context, { answer, common: set }, seen);
  };
  try {
    const answer = await run({ ...context, seen }, set);
    keep(answer);
    return answer;
  } catch (error) {
    if (error instanceof FailedAction) keep(error.answer);
    throw error;
  } finally {
    Object.assign(common, set);
  }
};
