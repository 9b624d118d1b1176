/** `svc worlds archive` and `delete`: archive worlds, restore them, and delete them. */
import type { Command } from 'commander';
import { archiveWorld, deleteWorld } from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import { usageError } from '../views/report.ts';
import { addCommand, clientFor, printAnswer, type ServiceOptions, withService } from './command.ts';

const addArchive = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'archive <world>',
    summary: 'put a world away: it is read as before, and takes no sessions and no pushes',
    example: 'svc worlds archive crm\nsvc worlds archive crm --undo',
  }).option('--undo', 'take it back');
  withService(command).action(
    async (slug: string, options: ServiceOptions & { undo?: boolean }) => {
      const client = clientFor(context, options);
      const archived = options.undo !== true;
      const { body } = await client.send(archiveWorld, { params: { slug }, body: { archived } });
      printAnswer(context, options, body, () =>
        archived ? `${slug} is archived` : `${slug} is in use again`,
      );
    },
  );
};

const addDelete = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'delete <world>',
    summary: 'delete a world with all its versions; sessions that are open go on',
    example: 'svc worlds delete crm --yes',
  }).option('--yes', 'delete it: it cannot be brought back');
  withService(command).action(async (slug: string, options: ServiceOptions & { yes?: boolean }) => {
    if (options.yes !== true) {
      throw usageError(`"${slug}" and all its versions cannot be brought back: say --yes`);
    }
    const { body } = await clientFor(context, options).send(deleteWorld, { params: { slug } });
    printAnswer(context, options, body, () => `${slug} is deleted`);
  });
};

export const addWorldsEnd = (worlds: Command, context: Context): void => {
  addArchive(worlds, context);
  addDelete(worlds, context);
};
