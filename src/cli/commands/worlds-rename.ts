/** `svc worlds rename`: changes the name and description of a world. */
import type { Command } from 'commander';
import { renameWorld } from '#wire/public-api/operations.ts';
import { type Context, viewOf } from '../terminal/context.ts';
import { usageError } from '../views/report.ts';
import { describeWorld } from '../views/world.ts';
import { addCommand, clientFor, printAnswer, type ServiceOptions, withService } from './command.ts';

type Options = ServiceOptions & { name?: string; description?: string };

export const addWorldsRename = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'rename <world> [slug]',
    summary: 'change the slug, name or description of a world; its old slug is free at once',
    example: 'svc worlds rename crm sales\nsvc worlds rename crm --name "Sales of the north"',
  })
    .option('--name <text>', 'display name')
    .option('--description <text>', 'what the world is; "" takes it away');
  withService(command).action(async (world: string, slug: string | undefined, options: Options) => {
    const { name, description } = options;
    if (slug === undefined && name === undefined && description === undefined) {
      throw usageError('there is nothing to change: give a slug, --name or --description');
    }
    const given = {
      ...(slug === undefined ? {} : { slug }),
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
    };
    const client = clientFor(context, options);
    const { body } = await client.send(renameWorld, { params: { slug: world }, body: given });
    printAnswer(context, options, body, () => describeWorld(body, viewOf(context)));
  });
};
