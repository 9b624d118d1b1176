/**
 * A turn: one call or request as it acts on a session. Turns are taken one at a time, inside the lock
 * of the store, so what they do to clock, ids and outbox is in the order in which they change rows.
 */
import type { Session } from './session.ts';

/** Moves time and ids on; the first thing inside the transaction of a tool call or API request. */
export const beginTurn = ({ clock, ids, outbox }: Session): void => {
  clock.step();
  ids.begin();
  outbox.begin();
};

/** Back to the first turn, as when the session was opened. */
export const resetTurns = ({ clock, ids, outbox }: Session): void => {
  clock.reset();
  ids.reset();
  outbox.begin();
};
