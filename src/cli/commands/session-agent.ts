/** `svc worlds session agent`: shows how the command of a session's agent ended. */
import type { Command } from 'commander';
import { getAgentEnd } from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import { describeAgentEnd } from '../views/agent-end.ts';
import { addCommand, clientFor, printAnswer, type ServiceOptions, withService } from './command.ts';

export const addSessionAgent = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'agent <session>',
    summary: "how the agent's command of a dataset run ended in a session, and what it printed",
    example: 'svc worlds session agent <session>',
  });
  withService(command).action(async (sessionId: string, options: ServiceOptions) => {
    const client = clientFor(context, options);
    const { body } = await client.send(getAgentEnd, { params: { sessionId } });
    printAnswer(context, options, body, () => describeAgentEnd(body));
  });
};
