/** `svc worlds session pin` and `unpin`: keep a session from the idle reaper, or give it back. */
import type { Command } from 'commander';
import { updateSession } from '#wire/public-api/operations.ts';
import {
  addCommand,
  clientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';

type Way = { name: 'pin' | 'unpin'; summary: string; pinned: boolean };

const ways: readonly Way[] = [
  { name: 'pin', summary: 'keep a session open however long it is idle', pinned: true },
  { name: 'unpin', summary: 'let a session end when it is idle for long', pinned: false },
];

const addWay = (sessions: Command, context: Context, { name, summary, pinned }: Way): void => {
  const command = addCommand(sessions, {
    usage: `${name} <session>`,
    summary,
    example: `svc worlds session ${name} <session>`,
  });
  withService(command).action(async (sessionId: string, options: ServiceOptions) => {
    const client = clientFor(context, options);
    const { body } = await client.send(updateSession, { params: { sessionId }, body: { pinned } });
    printAnswer(context, options, body, () => `${body.id} is ${pinned ? '' : 'not '}pinned`);
  });
};

export const addSessionPin = (sessions: Command, context: Context): void => {
  for (const way of ways) addWay(sessions, context, way);
};
