/** `svc worlds session agent`: shows how the command of a session's agent ended. */
import type { Command } from 'commander';
import { getAgentEnd } from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import { describeAgentEnd } from '../views/agent-end.ts';
import { addRequestCommand } from './request-command.ts';

export const addSessionAgent = (sessions: Command, context: Context): void => {
  addRequestCommand(sessions, context, {
    usage: 'agent <session>',
    summary:
      "show how the agent's command of a dataset run ended in a session, and the command's output",
    example: 'svc worlds session agent <session>',
    operation: getAgentEnd,
    input: ([sessionId]) => ({ params: { sessionId } }),
    text: describeAgentEnd,
  });
};
