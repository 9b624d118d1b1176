/**
 * Call `reset`: restores the state that the task seeded, revokes minted tokens and empties the request ledger. Before
 * the ledger is emptied, the reset is recorded as its last entry, for readers that store entries longer than the
 * session does.
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
    // Linked worlds change only through calls, which run one at a time, so their stores need no lock here.
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
  // The browser has a fresh profile when this returns. A browser that is disconnected gets it when it reconnects.
  await session.browser?.reset();
  return { output, changes: {} };
};
