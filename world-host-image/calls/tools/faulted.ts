/**
 * Applies declared faults to tool calls, if `[api.faults]` includes tools. The caller gets an error like that of an
 * unreliable service. Only the request ledger shows that the fault was declared.
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

/** Returns the declared faults that apply to a tool call; undefined if the session's faults do not include tools. */
export const meetAsTool = (session: Session, tool: ToolContract): Met | undefined =>
  session.faults.holdForTools() ? session.faults.meet(targetOf(session, tool)) : undefined;

/**
 * Returns the error of a faulted call. A call has no connection of its own to drop, so a fault that drops connections
 * prevents the call.
 */
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

/** Throws after the fault's delay if the fault prevents the call. The call still counts as a turn. */
export const refuseMet = async (session: Session, tool: ToolContract, met: Met): Promise<void> => {
  if (met.answer === undefined && met.drop === undefined) return;
  await session.world.store.exclusively(() => beginTurn(session));
  await pause(met.latencyMs);
  throw failureOf(session, tool, met);
};
