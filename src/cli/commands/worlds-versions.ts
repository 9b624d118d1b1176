/** `svc worlds versions`: lists the versions of a world and the changes of each. */
import type { Command } from 'commander';
import { listVersions } from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import { listVersions as versionsText } from '../views/version.ts';
import {
  addCommand,
  addPaging,
  clientFor,
  type PagingOptions,
  printPage,
  type ServiceOptions,
  withService,
} from './command.ts';

export const addWorldsVersions = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'versions <world>',
    summary: 'the versions of a world, newest first: who made each, and what it changed',
    example: 'svc worlds versions crm\nsvc worlds session open crm@2',
  });
  withService(addPaging(command)).action(
    async (slug: string, { page, limit, ...options }: ServiceOptions & PagingOptions) => {
      const client = clientFor(context, options);
      const query = { page, limit };
      const { body } = await client.send(listVersions, { params: { slug }, query });
      printPage(context, options, body, versionsText);
    },
  );
};
