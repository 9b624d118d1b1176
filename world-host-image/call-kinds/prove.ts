/**
 * Call `prove`: checks that the grader of the session's task passes correct work and fails incorrect work. While it
 * runs, the session's API refuses clients. Afterwards the session is in the same state as after a `reset`.
 */

import { CallFailure } from '../calls/answers/failure.ts';
import { type RunCall, refuseUnknown } from '../calls/call.ts';
import { prove } from '../proving/prove.ts';

export const callProve: RunCall = async (session, call, input, runOther) => {
  refuseUnknown(input, []);
  if (session.task === null) {
    throw new CallFailure({
      code: 'no_task',
      message: 'the session was opened without a task, so there is nothing to prove',
    });
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
