/** `svc worlds pin`: gives a version a label, by which it can be named, or removes the label. */
import type { Command } from 'commander';
import { removeLabel, setLabel } from '#wire/public-api/operations.ts';
import { parseAddress } from '../service/versions.ts';
import type { Context } from '../terminal/context.ts';
import {
  addCommand,
  addressWith,
  addWorldVersion,
  clientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';

export const addWorldsPin = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'pin <world> <label>',
    summary:
      'set a label on <slug>@<version>, or on the head; the label names that version until it is moved',
    example:
      'svc worlds pin crm@3 stable\nsvc worlds session open crm@stable\nsvc worlds pin crm stable --remove',
  }).option('--remove', 'remove the label instead');
  type Options = ServiceOptions & { remove?: boolean; version?: string };
  withService(addWorldVersion(command)).action(
    async (world: string, label: string, options: Options) => {
      const { slug, version } = parseAddress(addressWith(world, options.version));
      const client = clientFor(context, options);
      const params = { slug, label };
      if (options.remove === true) {
        const { body } = await client.send(removeLabel, { params });
        printAnswer(context, options, body, () => `the label ${slug}@${label} is removed`);
        return;
      }
      const { body } = await client.send(setLabel, { params, body: { version } });
      printAnswer(
        context,
        options,
        body,
        () => `${slug}@${label} now names version ${body.number}`,
      );
    },
  );
};
