/** `svc worlds session reset`: puts a session back to the state its task starts from. */
import type { Command } from 'commander';
import { runCall } from '../calls.ts';
import {
  addCommand,
  clientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { describeCounts, outputOf } from '../views/call.ts';

export const addSessionReset = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'reset <session>',
    summary: 'put the session back to the state its task starts from',
    example: 'svc worlds session reset <session>',
  });
  withService(command).action(async (sessionId: string, options: ServiceOptions) => {
    const client = clientFor(context, options);
    const call = await runCall(context, { client, sessionId, call: { kind: 'reset' } });
    const output = outputOf(call) as Parameters<typeof describeCounts>[0];
    printAnswer(context, options, call, () => describeCounts(output));
  });
};
