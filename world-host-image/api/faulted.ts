/**
 * Answers a request that a declared fault prevents: with the answer of the fault's rule, or by dropping the connection.
 * The request still counts as a turn of the session, so a stepped clock advances.
 */
import type { ApiContract, RouteContract } from '#language/contract.ts';
import type { Met } from '../session/faults.ts';
import { beginTurn, type Session } from '../session/session.ts';
import { type ApiAnswer, jsonAnswer, vendorAnswer } from './answers/answer.ts';
import { rateLimitHeaders } from './answers/rate-limits.ts';

const nameIn = ({ faults }: Met): string => faults.at(-1)?.name ?? '';

/** Returns the answer that the ledger records when the connection is dropped. */
const droppedAnswer = (met: Met): ApiAnswer => ({
  ...jsonAnswer(503, null),
  reason: `the declared fault "${nameIn(met)}" dropped the connection`,
});

/** Returns true if the fault answers or drops the request before the action runs. */
export const isPrevented = ({ answer, drop }: Met): boolean =>
  answer !== undefined || drop === 'before';

/** Returns the answer to a request that a fault prevents. */
export const answerPrevented = async (
  session: Session,
  api: ApiContract,
  route: RouteContract,
  met: Met,
): Promise<ApiAnswer> => {
  const common = rateLimitHeaders(api, route, session.clock, met.limits);
  await session.world.store.exclusively(() => beginTurn(session));
  if (met.answer === undefined) return droppedAnswer(met);
  const reason = `a declared fault: ${nameIn(met)}`;
  const answer = vendorAnswer(api, met.answer, reason);
  return { ...answer, headers: { ...common, ...met.answer.headers } };
};
