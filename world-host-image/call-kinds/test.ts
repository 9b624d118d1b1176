/** Call `test`: runs the tests that the call contains on the session, and then restores the session's initial state. */
import { isObject } from '#domain/json.ts';
import { createPathCheck, showPath } from '#domain/tree-path.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Row } from '#language/contract.ts';
import { CallFailure } from '../calls/answers/failure.ts';
import { type RunCall, refuseUnknown } from '../calls/call.ts';
import { defaultTestLimits, runSuite } from '../testing/suite.ts';

const readFiles = ({ files = {} }: Row): TreeFile[] => {
  const fail = (message: string): never => {
    throw new CallFailure({ code: 'invalid_input', message, path: '/files' });
  };
  const faultOf = createPathCheck();
  if (!isObject(files))
    return fail('files must be an object that has the text of each file under its path');
  return Object.entries(files).map(([path, text]) => {
    if (typeof text !== 'string') return fail(`${path} must be a text`);
    if (!path.startsWith('tests/')) return fail(`${path} is not in tests/`);
    const fault = faultOf(path);
    if (fault !== undefined) return fail(`the path ${showPath(path)} ${fault}`);
    return { path, content: new TextEncoder().encode(text) };
  });
};

export const callTest: RunCall = async (session, _call, input, runOther) => {
  refuseUnknown(input, ['files']);
  const report = await runSuite(session, readFiles(input), defaultTestLimits, runOther);
  return { output: report, changes: {} };
};
