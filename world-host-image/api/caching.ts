/**
 * Uses the answer cache for a request: returns the cached answer, or runs the author's code and caches its answer,
 * success or error. An answer with a `reason`, which the host adds when the code failed, is not cached. A cached answer
 * includes the effect of `[api] before`.
 */
import { nothingSeen } from '../session/seen.ts';
import type { Session } from '../session/session.ts';
import type { ActionContext } from './actions/action.ts';
import { type ApiAnswer, FailedAction } from './answers/answer.ts';
import { AnswerCache, type CachedAnswer } from './answers/answer-cache.ts';

type Headers = Record<string, string>;

/** Caches of served sessions; an entry disappears with its session. */
const caches = new WeakMap<Session, AnswerCache>();

const cacheOf = (session: Session): AnswerCache => {
  const cache = caches.get(session) ?? new AnswerCache(session.world.store.versions);
  caches.set(session, cache);
  return cache;
};

/**
 * Returns true if the answer may be cached. A request with a body is excluded, since the answer would depend on the
 * body.
 */
export const mayBeCached = ({ body, route }: ActionContext): boolean =>
  route.keepsAnswer === true && body === undefined;

/**
 * Returns the cached answer; undefined if there is none. Call it only while no transaction is open, or inside the
 * request's own transaction before its first write.
 */
export const findCached = (context: ActionContext): CachedAnswer | undefined =>
  cacheOf(context.session).find(context);

/** Returns the cached answer, or runs `run` and caches its answer. `common` receives the headers of `before`. */
export const cached = async (
  context: ActionContext,
  common: Headers,
  run: (context: ActionContext, common: Headers) => Promise<ApiAnswer>,
): Promise<ApiAnswer> => {
  const found = findCached(context);
  if (found !== undefined) {
    Object.assign(common, found.common);
    return found.answer;
  }
  const seen = nothingSeen();
  const set: Headers = {};
  const keep = (answer: ApiAnswer): void => {
    // A reason is set only by the host, when the code failed.
    if (answer.reason === null)
      cacheOf(context.session).keep(context, { answer, common: set }, seen);
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
