/**
 * Lists of states for SQL. They are derived from the transition tables of the domain, so that statements do not repeat
 * the rules.
 */
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

/**
 * Returns the states from which a session may change to this one, as `('a', 'b')`. The functions below do the same for
 * hosts, calls and batches of rows.
 */
export const sessionBefore = before(sessionTransitions);
export const hostBefore = before(hostTransitions);
export const callBefore = before(callTransitions);
export const batchBefore = before(batchTransitions);

/** States of sessions that accept calls: those from which a session can still change to CLOSING. */
export const openSessionStates = sessionBefore('CLOSING');
export const finalSessionStates = list(
  sessionStates.filter((state) => isFinal(sessionTransitions, state)),
);
/**
 * States of sessions whose calls are handed to hosts, and states in which a session may have a call in progress because
 * it was ready before.
 */
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

/**
 * Returns the condition that a session waits for a host: it is provisioning and has none. The part `closed_at is null`
 * makes the partial index on such sessions usable.
 */
export const waiting = (session: string): string =>
  `${session}.state = 'PROVISIONING' and ${session}.host_id is null and ${session}.closed_at is null`;
