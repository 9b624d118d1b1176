/**
 * Call `prove`: whether the task of the session is graded as it should be. Meanwhile the session's API is served to
 * nobody, and in the end the session is as after a `reset`.
 */

import { CallFailure } from '../calls/answers/failure.ts';
import { type RunCall, refuseUnknown } from '../calls/call.ts';
import { prove } from '../proving/prove.ts';

export const callProve: RunCall = async (session, call, input, runOther) => {
  refuseUnknown(input, []);
  if (session.task === null) {
    throw new CallFailure({ code: 'no_task', message: 'the session was opened on no task' });
  }
  const at = new Date();
  const startedAt = performance.now();
  session.isProving = true;
  try {
    const output = await prove(session, runOther);
    session.ledger.clear({
      at: at.toISOString(),
      via: 'session',
      operation: 'prove',
      method: null,
      path: null,
      status: null,
      request: input,
      response: { output: output.summary },
      duration_ms: performance.now() - startedAt,
      changes: {},
      call_id: call.id,
    });
    return { output, changes: {} };
  } finally {
    session.isProving = false;
  }
};
