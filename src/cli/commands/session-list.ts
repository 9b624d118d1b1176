/** `svc worlds session list`: the sessions of the project, newest first. */
import { type Command, Option } from 'commander';
import { type SessionState, sessionStates } from '#domain/session.ts';
import { listSessions } from '#wire/public-api/operations.ts';
import {
  addCommand,
  clientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { addPaging, moreText, type PagingOptions } from '../paging.ts';
import { listSessions as sessionsText } from '../views/session.ts';

type Options = ServiceOptions & PagingOptions & { state?: SessionState; world?: string };

export const addSessionList = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'list',
    summary: 'the sessions of the project, newest first',
    example: 'svc worlds session list --world code-hosting --state READY',
  })
    .addOption(new Option('--state <state>', 'only sessions in this state').choices(sessionStates))
    .option('--world <slug>', 'only sessions of this world');
  withService(addPaging(command)).action(async (options: Options) => {
    const { page, limit, state, world } = options;
    const { body } = await clientFor(context, options).send(listSessions, {
      query: {
        page,
        limit,
        ...(state === undefined ? {} : { state }),
        ...(world === undefined ? {} : { world }),
      },
    });
    printAnswer(context, options, body, () =>
      [sessionsText(body.data, context.colors), ...moreText(body.meta)].join('\n'),
    );
  });
};
