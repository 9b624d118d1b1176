/**
 * Context of a route's action, and the types of actions. An action runs inside the transaction of its request. Any
 * error that it throws rolls the transaction back.
 */
import type { ApiContract, Contract, EntityContract, RouteContract } from '#language/contract.ts';
import type { WorldStore } from '#store/world-store.ts';
import type { Arguments } from '../../routes/filter-values.ts';
import { planOf, type RoutePlan } from '../../routes/route-plan.ts';
import type { AuthorCode } from '../../session/author-code.ts';
import type { Met } from '../../session/faults.ts';
import type { Seen } from '../../session/seen.ts';
import type { Session } from '../../session/session.ts';
import type { HandlerRequest } from '../../usercode/run.ts';
import type { ApiAnswer } from '../answers/answer.ts';
import type { LinkBase } from '../pages/page-links.ts';

export type ActionContext = {
  session: Session;
  contract: Contract;
  api: ApiContract;
  store: WorldStore;
  code: AuthorCode;
  route: RouteContract;
  args: Arguments;
  /** Parsed body; undefined for a request without one. */
  body: unknown;
  /** True if the body was a form. All values of a form are strings. */
  isForm?: boolean;
  /** True if the body is text that was not parsed. */
  isText?: boolean;
  /** Request from which links to other pages are built; absent for a tool that is bound to the route. */
  links?: LinkBase;
  /** Rate limits that a declared fault enforces; absent if there are none. */
  limits?: Met['limits'];
  /** Record of what the author's code reads; present only if the answer may be cached. */
  seen?: Seen;
  /** Credentials that the request presented; absent if it did not come over HTTP. */
  bearers?: readonly string[];
  /** Request in the form that handlers get. Only the action `handler` uses it. */
  request: Pick<HandlerRequest, 'method' | 'path' | 'headers' | 'mediaType' | 'contentType'>;
};

export type Action = (context: ActionContext) => ApiAnswer | Promise<ApiAnswer>;

/** Action that returns its answer synchronously. */
export type PlainAction = (context: ActionContext) => ApiAnswer;

/** Plan of a route that names an entity. */
export type EntityPlan = RoutePlan & { entity: EntityContract };

const isAboutEntity = (plan: RoutePlan): plan is EntityPlan => plan.entity !== undefined;

/**
 * Returns the plan of the request's route. Every action but `handler` needs an entity. Throws if the route names no
 * entity.
 */
export const planFor = ({ contract, route }: ActionContext): EntityPlan => {
  const plan = planOf(contract, route);
  if (isAboutEntity(plan)) return plan;
  throw new Error(`route ${route.operation} names no entity`);
};
