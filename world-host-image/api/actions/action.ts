/**
 * What an action of a route works with. An action runs inside the transaction of its request; whatever
 * it throws undoes the transaction.
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
  /** Parsed; undefined for a request without a body. */
  body: unknown;
  /** Whether the body was a form, whose values are texts. */
  isForm?: boolean;
  /** Whether the body is a text as it came, which nobody has read. */
  isText?: boolean;
  /** What links to other pages begin with; a tool that is bound to the route has none. */
  links?: LinkBase;
  /** Limits on requests that a fault puts in force; absent: none. */
  limits?: Met['limits'];
  /** Where the answer may be kept: takes what the code saw. */
  seen?: Seen;
  /** What the request showed at the door; absent where it did not come by one. */
  bearers?: readonly string[];
  /** For handlers only. */
  request: Pick<HandlerRequest, 'method' | 'path' | 'headers' | 'mediaType' | 'contentType'>;
};

export type Action = (context: ActionContext) => ApiAnswer | Promise<ApiAnswer>;

/** An action that waits for nothing. */
export type PlainAction = (context: ActionContext) => ApiAnswer;

/** The plan of a route that is about an entity. */
export type EntityPlan = RoutePlan & { entity: EntityContract };

const isAboutEntity = (plan: RoutePlan): plan is EntityPlan => plan.entity !== undefined;

/** The plan of the request's route. Every action but a handler's is about an entity. */
export const planFor = ({ contract, route }: ActionContext): EntityPlan => {
  const plan = planOf(contract, route);
  if (isAboutEntity(plan)) return plan;
  throw new Error(`route ${route.operation} names no entity`);
};
