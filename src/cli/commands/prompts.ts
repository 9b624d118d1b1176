/** `svc prompts`: prompts with their versions and labels, as the SDKs of the field fetch them. */
import { type Command, Option } from 'commander';
import * as api from '#wire/public-api/operations.ts';
import type { PromptBody } from '#wire/public-api/projects/context.ts';
import { readJson, readMember } from '../files/dataset-items.ts';
import { readText } from '../files/input.ts';
import type { Context } from '../terminal/context.ts';
import { describePrompt, listPrompts } from '../views/context.ts';
import { usageError } from '../views/report.ts';
import {
  addCommand,
  addVersion,
  clientFor,
  collect,
  given,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';
import { parseVersion } from './context.ts';
import { addListCommand, addRequestCommand } from './request-command.ts';

const addList = (prompts: Command, context: Context): void => {
  addListCommand(prompts, context, {
    usage: 'list',
    summary: 'list the prompts of the project, newest first',
    example: 'svc prompts list --label production',
    filters: {
      name: new Option('--name <name>', 'only the prompt with this name'),
      label: new Option('--label <label>', 'only prompts with a version that has this label'),
      tag: new Option('--tag <tag>', 'only prompts with this tag'),
    },
    operation: api.listPrompts,
    text: listPrompts,
  });
};

type ShowOptions = { version?: number; label?: string; raw?: boolean };

const addShow = (prompts: Command, context: Context): void => {
  addRequestCommand(prompts, context, {
    usage: 'show <name>',
    summary: 'show the version labelled production, or another one',
    example: 'svc prompts show greeting --label staging',
    options: (command) => {
      command
        .option('--label <label>', 'label of the version (default: production)')
        .option('--raw', 'do not replace references to other prompts by their content');
      addVersion(command, { about: 'number of the version', formerly: 'at', parse: parseVersion });
    },
    operation: api.getPrompt,
    input: ([promptName], { version, label, raw }: ShowOptions) => ({
      params: { promptName },
      query: {
        ...given('version', version?.toString()),
        ...given('label', label),
        ...(raw === true ? { resolve: 'false' } : {}),
      },
    }),
    text: describePrompt,
  });
};

type CreateOptions = {
  chat?: boolean;
  config?: string;
  label?: string[];
  tag?: string[];
  message?: string;
};

const addCreate = (prompts: Command, context: Context): void => {
  addRequestCommand(prompts, context, {
    usage: 'create <name> <prompt>',
    summary: 'create a prompt, or its next version: a text, @file, or - for standard input',
    example: [
      'svc prompts create greeting "Hello {{name}}" --label production',
      'svc prompts create support @messages.json --chat',
    ].join('\n'),
    options: (command) =>
      command
        .option('--chat', 'the prompt is a JSON list of messages {role, content}')
        .option('--config <json>', 'configuration stored with the version: JSON, @file, or -')
        .option('--label <label>', 'label to move to this version; repeatable', collect)
        .option('--tag <tag>', 'tag of the prompt; repeatable', collect)
        .option('-m, --message <text>', 'reason for the new version'),
    operation: api.createPrompt,
    input: async ([name, prompt], { chat, config, label, tag, message }: CreateOptions) => {
      const body: PromptBody = {
        name,
        type: chat === true ? 'chat' : 'text',
        prompt:
          chat === true
            ? await readJson(context, prompt, 'the prompt')
            : await readText(context, prompt),
        ...(await readMember(context, 'config', config)),
        ...given('labels', label),
        ...given('tags', tag),
        ...given('commitMessage', message),
      };
      return { body };
    },
    text: ({ version }, _view, [name]) => `${name} is at version ${version}`,
  });
};

const addLabel = (prompts: Command, context: Context): void => {
  addRequestCommand(prompts, context, {
    usage: 'label <name> <version> <label...>',
    summary: 'move labels to a version',
    example: 'svc prompts label greeting 3 production',
    operation: api.labelPrompt,
    input: ([promptName, promptVersion, newLabels]) => ({
      params: { promptName, promptVersion },
      body: { newLabels },
    }),
    text: describePrompt,
  });
};

const addDelete = (prompts: Command, context: Context): void => {
  const command = addCommand(prompts, {
    usage: 'delete <name>',
    summary: 'delete a prompt, or one version of it',
    example: 'svc prompts delete greeting --version 2',
  })
    .option('--label <label>', 'delete only the version with this label')
    .option('--all', 'delete the prompt with all versions');
  addVersion(command, {
    about: 'delete only the version with this number',
    formerly: 'at',
    parse: parseVersion,
  });
  type Options = ServiceOptions & ShowOptions & { all?: boolean };
  withService(command).action(async (promptName: string, options: Options) => {
    const { version, label, all } = options;
    if ([version, label, all].filter((each) => each !== undefined).length !== 1) {
      throw usageError('name what to delete: --version, --label, or --all');
    }
    const query = { ...given('version', version?.toString()), ...given('label', label) };
    const input = { params: { promptName }, query };
    await clientFor(context, options).send(api.deletePrompt, input);
    printAnswer(context, options, { deleted: true }, () => `${promptName} is deleted`);
  });
};

export const addPrompts = (program: Command, context: Context): void => {
  const prompts = program.command('prompts').description('prompts with their versions and labels');
  addList(prompts, context);
  addShow(prompts, context);
  addCreate(prompts, context);
  addLabel(prompts, context);
  addDelete(prompts, context);
};
