/**
 * Call `close`: nothing to do here; the control plane ends the session once it is answered. Whether the
 * host is kept warm is its business, too: here it is only looked at whether it can be understood.
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
