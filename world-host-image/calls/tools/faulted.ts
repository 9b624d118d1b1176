/**
 * Declared faults in calls of tools, where `[api.faults]` holds for tools as well. What the caller is told is what an
 * unreliable service would tell; that it was declared stands in the request ledger alone.
 */

import type { ToolContract } from '#language/contract.ts';
import { pause } from '#runtime/pause.ts';
import { vendorAnswer } from '../../api/answers/answer.ts';
import type { FaultTarget, Met } from '../../session/faults.ts';
import { beginTurn, type Session } from '../../session/session.ts';
import { CallFailure } from '../answers/failure.ts';
import { errorOfAnswer } from './operation.ts';

const targetOf = ({ world }: Session, { binding }: ToolContract): FaultTarget => {
  if (binding.kind !== 'operation') return 'tool';
  const routes = world.contract.api?.routes ?? [];
  return routes.find(({ operation }) => operation === binding.operation) ?? 'tool';
};

/** What a call of a tool meets; undefined where no fault holds for tools. */
export const meetAsTool = (session: Session, tool: ToolContract): Met | undefined =>
  session.faults.holdForTools() ? session.faults.meet(targetOf(session, tool)) : undefined;

/** A call has no connection of its own, so one that is dropped was not carried out. */
const failureOf = ({ world }: Session, tool: ToolContract, { answer, faults }: Met) => {
  if (answer === undefined) {
    const message = `the connection was closed before ${tool.name} answered`;
    return new CallFailure({ code: 'unavailable', message }, faults);
  }
  const { errorContentType = 'application/json' } = world.contract.api ?? {};
  const name = tool.binding.kind === 'operation' ? tool.binding.operation : tool.name;
  return new CallFailure(
    errorOfAnswer(name, vendorAnswer({ errorContentType }, answer, null)),
    faults,
  );
};

/** Holds back what is to be told, and throws where the call is not to be carried out. It is a turn all the same. */
export const refuseMet = async (session: Session, tool: ToolContract, met: Met): Promise<void> => {
  if (met.answer === undefined && met.drop === undefined) return;
  await session.world.store.exclusively(() => beginTurn(session));
  await pause(met.latencyMs);
  throw failureOf(session, tool, met);
};
