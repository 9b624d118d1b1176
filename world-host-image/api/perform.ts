/** Runs a route's action in a transaction of its own, and turns refusals into the vendor's answers. */
import type { ApiContract, RouteAction, RouteContract } from '#language/contract.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { Changes } from '#store/write/transaction.ts';
import { nothingOutgoing, type Outgoing } from '../session/outbox.ts';
import { beginTurn } from '../session/session.ts';
import type { Action, ActionContext, PlainAction } from './actions/action.ts';
import { handler, runBefore } from './actions/handler.ts';
import { read } from './actions/read.ts';
import { create, remove, update } from './actions/write.ts';
import { type ApiAnswer, FailedAction, vendorAnswer } from './answers/answer.ts';
import { refusedWrite } from './answers/invalid-answer.ts';
import { rateLimitHeaders } from './answers/rate-limits.ts';
import { cached, findCached, mayBeCached } from './caching.ts';

const plainActions: Record<Exclude<RouteAction, 'handler'>, PlainAction> = {
  read,
  create,
  update,
  delete: remove,
};

export const actions: Record<RouteAction, Action> = { ...plainActions, handler };

/**
 * Returns the vendor's answer for an error that an action threw. Rethrows anything else, which is a bug of the host.
 */
export const answerOfFailure = (
  api: ApiContract,
  route: RouteContract,
  error: unknown,
): ApiAnswer => {
  if (error instanceof FailedAction) return error.answer;
  if (!(error instanceof StoreRefusal)) throw error;
  if (error.kind !== 'not_found') return refusedWrite(api, route, error);
  return vendorAnswer(api, route.notFound, `${error.kind}: ${error.message}`);
};

export type Performed = Changes & { answer: ApiAnswer; outgoing: Outgoing };

const unchanged: Changes = { changes: {}, rows: [] };

type Headers = Record<string, string>;

type Answered = Omit<Performed, keyof Changes>;

const answered = ({ session }: ActionContext, answer: ApiAnswer): Answered => ({
  answer,
  outgoing: answer.status < 400 ? session.outbox.take() : nothingOutgoing(),
});

/** Begins the request's turn, and sets the headers that all of its answers have. */
const begin = ({ api, limits, route, session }: ActionContext, common: Headers): void => {
  beginTurn(session);
  Object.assign(common, rateLimitHeaders(api, route, session.clock, limits));
};

/**
 * Runs `before`, if the API has it, and returns its answer. If `before` gives no answer, runs the route's action and
 * returns that answer. `common` receives the headers that `before` sets.
 */
const answerOf = async (context: ActionContext, common: Headers): Promise<ApiAnswer> => {
  const { api, route } = context;
  if (api.before === null) return actions[route.action](context);
  const before = await runBefore(context, api.before);
  Object.assign(common, before.headers);
  return before.answer ?? before.handled?.() ?? actions[route.action](context);
};

/**
 * Runs the action and returns its answer with the webhooks that it sends; an error sends none. `common` receives the
 * headers that every answer to the request has, even if this function throws.
 */
const perform = async (context: ActionContext, common: Headers): Promise<Answered> => {
  begin(context, common);
  const answer = mayBeCached(context)
    ? await cached(context, common, answerOf)
    : await answerOf(context, common);
  return answered(context, answer);
};

/** Runs the action like `perform`, for a synchronous action of a world without `before`. */
const performNow = (context: ActionContext, act: PlainAction, common: Headers): Performed => {
  const { route, store } = context;
  const work = (): Answered => {
    begin(context, common);
    return answered(context, act(context));
  };
  if (route.action === 'read') return { ...work(), ...unchanged };
  const { value, ...changed } = store.atomicallyNow(work);
  return { ...value, ...changed };
};

/** Answers from the cache, with the same result as `perform`; returns undefined if no answer is cached. */
const performCached = (context: ActionContext, common: Headers): Performed | undefined => {
  const found = findCached(context);
  if (found === undefined) return undefined;
  begin(context, common);
  Object.assign(common, found.common);
  return { ...answered(context, found.answer), ...unchanged };
};

const withHeaders = (performed: Performed, common: Headers): Performed => {
  const { answer } = performed;
  return { ...performed, answer: { ...answer, headers: { ...common, ...answer.headers } } };
};

/** Answers a request whose route is known. */
export const performAction = async (context: ActionContext): Promise<Performed> => {
  const { api, route, store } = context;
  const common: Headers = {};
  const work = () => perform(context, common);
  const plain =
    api.before === null && route.action !== 'handler' ? plainActions[route.action] : undefined;
  try {
    if (mayBeCached(context) && store.isIdle()) {
      const performed = performCached(context, common);
      if (performed !== undefined) return withHeaders(performed, common);
    }
    if (plain !== undefined && store.isIdle()) {
      return withHeaders(performNow(context, plain, common), common);
    }
    if (plain !== undefined && route.action === 'read') {
      return withHeaders({ ...(await store.exclusively(work)), ...unchanged }, common);
    }
    const { value, ...changed } = await store.atomically(work);
    return withHeaders({ ...value, ...changed }, common);
  } catch (error) {
    const answer = answerOfFailure(api, route, error);
    return withHeaders({ answer, ...unchanged, outgoing: nothingOutgoing() }, common);
  }
};
