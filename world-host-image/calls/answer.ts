/** Call `answer`: stores the agent's answer to its task's question. The last answer counts; a reset removes it. */
import { CallFailure } from './answers/failure.ts';
import { type RunCall, refuseUnknown } from './call.ts';

const mostBytes = 64 * 1024;

export const callAnswer: RunCall = (session, _call, input) => {
  refuseUnknown(input, ['answer']);
  if (!Object.hasOwn(input, 'answer')) {
    const message = 'answer is missing: give any JSON as {"answer": …}';
    throw new CallFailure({ code: 'invalid_input', message, path: '/answer' });
  }
  const value = input.answer;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > mostBytes) {
    const message = `the answer has ${bytes} bytes, more than the maximum of ${mostBytes}`;
    throw new CallFailure({ code: 'too_large', message, path: '/answer' });
  }
  return session.world.store.exclusively(() => {
    session.answer = { value };
    return { output: { answer: value }, changes: {} };
  });
};
