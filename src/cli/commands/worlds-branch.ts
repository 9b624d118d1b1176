/** `svc worlds branch`: creates a new world from a version of another one. */
import type { Command } from 'commander';
import { branchContainer } from '#wire/public-api/operations.ts';
import { parseAddress } from '../service/versions.ts';
import type { Context } from '../terminal/context.ts';
import { describeWorld } from '../views/world.ts';
import { addressWith, addWorldVersion, given } from './command.ts';
import { addRequestCommand } from './request-command.ts';

type Options = { name?: string; description?: string; message?: string; version?: string };

export const addWorldsBranch = (worlds: Command, context: Context): void => {
  addRequestCommand(worlds, context, {
    usage: 'branch <world> <slug>',
    summary: 'create a new world from <world> or <world>@<version>, with its files and rows',
    example: 'svc worlds branch crm crm-trial\nsvc worlds branch crm@3 crm-as-it-was',
    options: (command) =>
      addWorldVersion(
        command
          .option('--name <text>', 'display name')
          .option('--description <text>', 'description of the world')
          .option('-m, --message <text>', 'reason recorded on the first version'),
      ),
    operation: branchContainer,
    input: ([world, slug], { name, description, message, version }: Options) => {
      const { slug: containerId, version: bundle } = parseAddress(addressWith(world, version));
      const body = {
        ...{ slug, bundle },
        ...given('name', name),
        ...given('description', description),
        ...given('message', message),
      };
      return { params: { containerId }, body };
    },
    text: describeWorld,
  });
};
