/** `svc projects`: what holds for a whole project. */
import { type Command, InvalidArgumentError } from 'commander';
import { getProjectSettings, updateProjectSettings } from '#wire/public-api/operations.ts';
import type { ProjectSettingsView } from '#wire/public-api/push-operations.ts';
import type { Context } from '../terminal/context.ts';
import { addCommand, clientFor, printAnswer, type ServiceOptions, withService } from './command.ts';

const settingsText = ({ webhookPush, webhookPushSince }: ProjectSettingsView): string =>
  webhookPush ? `webhook-push  on, since ${webhookPushSince}` : 'webhook-push  off';

const addShow = (settings: Command, context: Context): void => {
  const command = addCommand(settings, {
    usage: 'show',
    summary: 'show the settings of the project',
    example: 'svc projects settings show',
  });
  withService(command).action(async (options: ServiceOptions) => {
    const { body } = await clientFor(context, options).send(getProjectSettings, {});
    printAnswer(context, options, body, () => settingsText(body));
  });
};

const parseSwitch = (text: string): boolean => {
  if (text === 'on' || text === 'off') return text === 'on';
  throw new InvalidArgumentError('It is neither "on" nor "off".');
};

const addSet = (settings: Command, context: Context): void => {
  const command = addCommand(settings, {
    usage: 'set',
    summary: 'change settings of the project',
    example: 'svc projects settings set --webhook-push on',
  }).requiredOption(
    '--webhook-push <on|off>',
    'whether the service posts what sessions send to their webhooks',
    parseSwitch,
  );
  withService(command).action(async (options: ServiceOptions & { webhookPush: boolean }) => {
    const { webhookPush } = options;
    const client = clientFor(context, options);
    const { body } = await client.send(updateProjectSettings, { body: { webhookPush } });
    printAnswer(context, options, body, () => settingsText(body));
  });
};

export const addProjects = (program: Command, context: Context): void => {
  const projects = program.command('projects').description('what holds for a whole project');
  const settings = projects.command('settings').description('settings of the project');
  addShow(settings, context);
  addSet(settings, context);
};
