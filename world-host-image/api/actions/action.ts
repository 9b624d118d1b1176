/**
 * What an action of a route works with, and how it says no. An action runs inside the transaction of
 * its request; whatever it throws undoes the transaction.
 */
import type { ApiContract, Contract, EntityContract, RouteContract } from '#language/contract.ts';
import type { WorldStore } from '#store/world-store.ts';
import type { AuthorCode } from '../../session/author-code.ts';
import type { Session } from '../../session/session.ts';
import type { HandlerRequest } from '../../usercode/run.ts';
import type { ApiAnswer } from '../answer.ts';
import type { Arguments } from '../filter-values.ts';

export type ActionContext = {
  session: Session;
  contract: Contract;
  api: ApiContract;
  store: WorldStore;
  code: AuthorCode;
  route: RouteContract;
  args: Arguments;
  /** Parsed JSON; undefined for a request without a body. */
  body: unknown;
  /** For handlers only. */
  request: Pick<HandlerRequest, 'method' | 'path' | 'headers'>;
};

export type Action = (context: ActionContext) => ApiAnswer | Promise<ApiAnswer>;

/** Undoes the transaction and answers this. */
export class FailedAction extends Error {
  readonly answer: ApiAnswer;

  constructor(answer: ApiAnswer) {
    super(`the request is answered ${answer.status}`);
    this.answer = answer;
  }
}

/** The entity that the route is about. */
export const entityOf = ({ contract, route }: ActionContext): EntityContract => {
  const entity = contract.entities.find(({ name }) => name === route.entity);
  if (entity === undefined) throw new Error(`route ${route.operation} names no entity`);
  return entity;
};
