/** Call `reset`: the state as the task seeded it, and an empty request ledger. */
import { resetTurns } from '../session/turn.ts';
import { type RunCall, refuseUnknown } from './call.ts';

export const callReset: RunCall = async (session, _call, input) => {
  const { ledger, world } = session;
  const { store } = world;
  refuseUnknown(input, []);
  const output = await store.exclusively(() => {
    store.rollBackTo('task');
    ledger.clear();
    resetTurns(session);
    return { counts: store.counts(), digest: store.digest() };
  });
  return { output, changes: {} };
};
