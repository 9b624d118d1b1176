/** Call `reset`: the state as the task seeded it, no bearers and an empty request ledger. */
import { resetTurns } from '../session/turn.ts';
import { type RunCall, refuseUnknown } from './call.ts';

export const callReset: RunCall = async (session, _call, input) => {
  const { ledger, tokens, world } = session;
  const { store } = world;
  refuseUnknown(input, []);
  const output = await store.exclusively(() => {
    store.rollBackTo('task');
    ledger.clear();
    tokens.clear();
    resetTurns(session);
    return { counts: store.counts(), digest: store.digest() };
  });
  return { output, changes: {} };
};
