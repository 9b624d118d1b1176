/** Call `tool`: runs a tool of the world. */

import type { RunCall } from './call.ts';
import { runTool } from './tools/run-tool.ts';

export const callTool: RunCall = (session, call, input) => runTool(session, call.name ?? '', input);
