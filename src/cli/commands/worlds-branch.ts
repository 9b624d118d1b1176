/** `svc worlds branch`: creates a new world from a version of another one. */
import type { Command } from 'commander';
import { branchContainer } from '#wire/public-api/operations.ts';
import { parseAddress } from '../service/versions.ts';
import { type Context, viewOf } from '../terminal/context.ts';
import { describeWorld } from '../views/world.ts';
import {
  addCommand,
  addressWith,
  addWorldVersion,
  clientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';

type Options = ServiceOptions & {
  name?: string;
  description?: string;
  message?: string;
  version?: string;
};

export const addWorldsBranch = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'branch <world> <slug>',
    summary: 'create a new world from <world> or <world>@<version>, with its files and rows',
    example: 'svc worlds branch crm crm-trial\nsvc worlds branch crm@3 crm-as-it-was',
  })
    .option('--name <text>', 'display name')
    .option('--description <text>', 'what the world is')
    .option('-m, --message <text>', 'reason recorded on the first version');
  withService(addWorldVersion(command)).action(
    async (world: string, slug: string, options: Options) => {
      const address = addressWith(world, options.version);
      const { slug: containerId, version: bundle } = parseAddress(address);
      const { name, description, message } = options;
      const body = {
        ...{ slug, bundle },
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
        ...(message === undefined ? {} : { message }),
      };
      const client = clientFor(context, options);
      const branched = (await client.send(branchContainer, { params: { containerId }, body })).body;
      printAnswer(context, options, branched, () => describeWorld(branched, viewOf(context)));
    },
  );
};
