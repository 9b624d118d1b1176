/**
 * Call `close`: the host only validates the input. The control plane ends the session once the call is answered, and
 * decides whether the host is kept warm.
 */

import { CallFailure } from './answers/failure.ts';
import { type RunCall, refuseUnknown } from './call.ts';

export const callClose: RunCall = async (_session, _call, input) => {
  refuseUnknown(input, ['keepWarm']);
  const { keepWarm = false } = input;
  if (typeof keepWarm !== 'boolean') {
    const message = 'keepWarm must be true or false';
    throw new CallFailure({ code: 'invalid_input', message, path: '/keepWarm' });
  }
  return { output: {}, changes: {} };
};
