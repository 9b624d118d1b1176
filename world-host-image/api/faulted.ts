/**
 * A request that meets a declared fault which keeps it from being carried out: it is answered as the rule says, or its
 * connection is dropped. It is a turn as any request is, so a stepped clock goes on.
 */
import type { ApiContract, RouteContract } from '#language/contract.ts';
import type { Met } from '../session/faults.ts';
import { beginTurn, type Session } from '../session/session.ts';
import { type ApiAnswer, jsonAnswer, vendorAnswer } from './answers/answer.ts';
import { rateLimitHeaders } from './answers/rate-limits.ts';

const nameIn = ({ faults }: Met): string => faults.at(-1)?.name ?? '';

/** What the ledger keeps of a request without an answer. */
const droppedAnswer = (met: Met): ApiAnswer => ({
  ...jsonAnswer(503, null),
  reason: `the declared fault "${nameIn(met)}" dropped the connection`,
});

/** Whether the fault decides what becomes of the request, so that it is not carried out. */
export const isPrevented = ({ answer, drop }: Met): boolean =>
  answer !== undefined || drop === 'before';

/** The answer to a request that is not carried out. */
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
