/** `svc worlds templates`: what worlds of this service can be created from. */
import type { Command } from 'commander';
import { listTemplates } from '#wire/public-api/operations.ts';
import {
  addCommand,
  clientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { listTemplates as templatesText } from '../views/world.ts';

export const addWorldsTemplates = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'templates',
    summary: 'the templates of the service',
    example: 'svc worlds templates',
  });
  withService(command).action(async (options: ServiceOptions) => {
    const { body } = await clientFor(context, options).send(listTemplates, {});
    printAnswer(context, options, body, () => templatesText(body.data, context.colors));
  });
};
