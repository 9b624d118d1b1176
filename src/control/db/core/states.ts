/** State lists for SQL, taken from the domain's tables, so that no statement makes its own rules. */
import { batchTransitions } from '#domain/batch.ts';
import { callStates, callTransitions } from '#domain/call.ts';
import { hostTransitions, liveHostStates } from '#domain/host.ts';
import { isReady, sessionStates, sessionTransitions } from '#domain/session.ts';
import { can, isFinal, statesBefore, type TransitionTable } from '#domain/transitions.ts';

const list = (states: readonly string[]): string =>
  `(${states.map((state) => `'${state}'`).join(', ')})`;

const before =
  <State extends string>(table: TransitionTable<State>) =>
  (to: State): string =>
    list(statesBefore(table, to));

/** `('a', 'b')`: the states from which a session, host or call may go to this one. */
export const sessionBefore = before(sessionTransitions);
export const hostBefore = before(hostTransitions);
export const callBefore = before(callTransitions);
export const batchBefore = before(batchTransitions);

/** Sessions that take calls: whatever can still be closed in an orderly way. */
export const openSessionStates = sessionBefore('CLOSING');
export const finalSessionStates = list(
  sessionStates.filter((state) => isFinal(sessionTransitions, state)),
);
/** Sessions that calls are handed out for, and those that may have a call under way: they were ready. */
export const readySessionStates = list(sessionStates.filter(isReady));
export const servedSessionStates = list(
  sessionStates.filter(
    (state) =>
      isReady(state) ||
      (can(sessionTransitions, 'READY', state) && !isFinal(sessionTransitions, state)),
  ),
);
export const liveHosts = list(liveHostStates);
export const openCallStates = list(callStates.filter((state) => !isFinal(callTransitions, state)));

/** Whether a session waits: it is provisioning and no host has it. The last is what the index of those is by. */
export const waiting = (session: string): string =>
  `${session}.state = 'PROVISIONING' and ${session}.host_id is null and ${session}.closed_at is null`;
