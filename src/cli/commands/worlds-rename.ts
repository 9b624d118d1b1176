/** `svc worlds rename`: changes the name and description of a world. */
import type { Command } from 'commander';
import { renameWorld } from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import { usageError } from '../views/report.ts';
import { describeWorld } from '../views/world.ts';
import { given } from './command.ts';
import { addRequestCommand } from './request-command.ts';

type Options = { name?: string; description?: string };

export const addWorldsRename = (worlds: Command, context: Context): void => {
  addRequestCommand(worlds, context, {
    usage: 'rename <world> [slug]',
    summary:
      'change the slug, name or description of a world; other worlds can use its old slug at once',
    example: 'svc worlds rename crm sales\nsvc worlds rename crm --name "Sales of the north"',
    options: (command) =>
      command
        .option('--name <text>', 'display name')
        .option('--description <text>', 'description of the world; "" removes it'),
    operation: renameWorld,
    input: ([world, slug], { name, description }: Options) => {
      if (slug === undefined && name === undefined && description === undefined) {
        throw usageError('there is nothing to change: give a slug, --name or --description');
      }
      const body = {
        ...given('slug', slug),
        ...given('name', name),
        ...given('description', description),
      };
      return { params: { slug: world }, body };
    },
    text: describeWorld,
  });
};
