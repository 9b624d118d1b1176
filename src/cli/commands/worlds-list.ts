/** `svc worlds list`: the worlds of the project, newest first. */
import type { Command } from 'commander';
import { listWorlds } from '#wire/public-api/operations.ts';
import {
  addCommand,
  clientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { addPaging, moreText, type PagingOptions } from '../paging.ts';
import { listWorlds as worldsText } from '../views/world.ts';

export const addWorldsList = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'list',
    summary: 'the worlds of the project, newest first',
    example: 'svc worlds list',
  });
  withService(addPaging(command)).action(
    async ({ page, limit, ...options }: ServiceOptions & PagingOptions) => {
      const client = clientFor(context, options);
      const { body } = await client.send(listWorlds, { query: { page, limit } });
      printAnswer(context, options, body, () =>
        [worldsText(body.data, context.colors), ...moreText(body.meta)].join('\n'),
      );
    },
  );
};
