/** Types of the kinds of calls. A call that fails throws an error and has changed nothing. */

import type { ChangeCounts } from '#domain/call.ts';
import { isObject, toPointer } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import type { RowChange } from '#store/write/write-set.ts';
import type { CallAnswer, HostCall } from '#wire/host-api/operations.ts';
import type { MetFault } from '../session/faults.ts';
import type { Outgoing } from '../session/outbox.ts';
import type { Session } from '../session/session.ts';
import { CallFailure } from './answers/failure.ts';

export type CallOutcome = {
  output: unknown;
  changes: ChangeCounts;
  /** Changed rows, if the call changes any. */
  rows?: RowChange[];
  /** Webhooks that the call sent. */
  outgoing?: Outgoing;
  /** Declared faults that applied to the call. */
  faults?: readonly MetFault[];
};

/**
 * Runs another call on a session, as a step of the current call. If that other call fails, the failure is returned as
 * its answer.
 */
export type RunOther = (session: Session, call: HostCall) => Promise<CallAnswer>;

export type RunCall = (
  session: Session,
  call: HostCall,
  input: Row,
  runOther: RunOther,
) => Promise<CallOutcome>;

/**
 * Returns the call's input, which must be an object; an empty object if the call has no input. Throws `CallFailure` for
 * any other value.
 */
export const inputOf = ({ input }: HostCall): Row => {
  if (input === null || input === undefined) return {};
  if (isObject(input)) return input;
  const message = 'the input must be a JSON object';
  throw new CallFailure({ code: 'invalid_input', message, path: '' });
};

/** Throws `CallFailure` if the input has a member that is not listed in `known`. */
export const refuseUnknown = (input: Row, known: readonly string[]): void => {
  const name = Object.keys(input).find((key) => !known.includes(key));
  if (name === undefined) return;
  const message = `"${name}" is not a member of the input; it may have ${known.join(', ') || 'no members'}`;
  throw new CallFailure({ code: 'invalid_input', message, path: toPointer([name]) });
};
