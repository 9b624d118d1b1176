/**
 * Lists of states for SQL, derived from the transition tables of the domain, so that no statement has rules of its
 * own.
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

/** Returns the states, as `('a', 'b')`, from which a session, host or call may change to this one. */
export const sessionBefore = before(sessionTransitions);
export const hostBefore = before(hostTransitions);
export const callBefore = before(callTransitions);
export const batchBefore = before(batchTransitions);

/** Sessions that accept calls: those that can still change to CLOSING. */
export const openSessionStates = sessionBefore('CLOSING');
export const finalSessionStates = list(
  sessionStates.filter((state) => isFinal(sessionTransitions, state)),
);
/** Sessions whose calls are handed to hosts, and sessions that may have a call in progress because they were ready. */
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
 * Returns the condition for a session that waits for a host: it is provisioning and has none. `closed_at is null`
 * matches the partial index on such sessions.
 */
export const waiting = (session: string): string =>
  `${session}.state = 'PROVISIONING' and ${session}.host_id is null and ${session}.closed_at is null`;
