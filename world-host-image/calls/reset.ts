/**
 * Call `reset`: the state as the task seeded it, no bearers and an empty request ledger. The reset
 * itself is the last entry of the ledger that it empties, for those who keep entries longer.
 */
import { resetTurns } from '../session/session.ts';
import { type RunCall, refuseUnknown } from './call.ts';

export const callReset: RunCall = async (session, call, input) => {
  const at = new Date();
  const startedAt = performance.now();
  const { ledger, links, tokens, world } = session;
  const { store } = world;
  refuseUnknown(input, []);
  const output = await store.exclusively(() => {
    store.rollBackTo('task');
    // Calls are the only way to a linked world, and they are run one at a time.
    for (const { world: linked } of links.values()) linked.store.rollBackTo('task');
    tokens.clear();
    session.answer = null;
    session.sent.clear();
    resetTurns(session);
    const reached = { counts: store.counts(), digest: store.digest() };
    ledger.clear({
      at: at.toISOString(),
      via: 'session',
      operation: 'reset',
      method: null,
      path: null,
      status: null,
      request: input,
      response: { output: reached },
      duration_ms: performance.now() - startedAt,
      changes: {},
      call_id: call.id,
    });
    return reached;
  });
  // Its browser stands on a fresh profile when this is answered; one that is away gets it when it comes.
  await session.browser?.reset();
  return { output, changes: {} };
};
