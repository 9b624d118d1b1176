/** Call `close`: nothing to do here; the control plane ends the session once it is answered. */
import { type RunCall, refuseUnknown } from './call.ts';

export const callClose: RunCall = async (_session, _call, input) => {
  refuseUnknown(input, []);
  return { output: {}, changes: {} };
};
