/** Call `tool`: runs a tool of the world. */
import { runTool } from '../tools/run-tool.ts';
import type { RunCall } from './call.ts';

export const callTool: RunCall = (session, call, input) => runTool(session, call.name ?? '', input);
