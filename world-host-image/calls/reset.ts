/** Call `reset`: the state as the task seeded it, and an empty request ledger. */
import { type RunCall, refuseUnknown } from './call.ts';

export const callReset: RunCall = async ({ world: { store }, ledger }, _call, input) => {
  refuseUnknown(input, []);
  const output = await store.exclusively(() => {
    store.rollBackTo('task');
    ledger.clear();
    return { counts: store.counts(), digest: store.digest() };
  });
  return { output, changes: {} };
};
