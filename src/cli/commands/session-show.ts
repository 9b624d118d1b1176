/** `svc worlds session show`: state, readiness and surfaces of a session. */
import type { Command } from 'commander';
import { getSession } from '#wire/public-api/operations.ts';
import {
  addCommand,
  clientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { describeSession } from '../views/session.ts';

export const addSessionShow = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'show <session>',
    summary: 'state, readiness, address and token of a session',
    example: 'svc worlds session show ses-01kaz4x0pg8q2m5v7n3c1d9e6f',
  });
  withService(command).action(async (sessionId: string, options: ServiceOptions) => {
    const { body } = await clientFor(context, options).send(getSession, { params: { sessionId } });
    printAnswer(context, options, body, () => describeSession(body, context.colors));
  });
};
