/** Call `test`: runs the tests of the world's tree on the session. */
import { CallFailure } from './answers/failure.ts';
import { type RunCall, refuseUnknown } from './call.ts';

export const callTest: RunCall = async (_session, _call, input) => {
  refuseUnknown(input, []);
  const message = 'the world has no tests: they are files test_*.py and *.test.ts in tests/';
  throw new CallFailure({ code: 'no_tests', message });
};
