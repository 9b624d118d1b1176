/** `svc prompts`: prompts with their versions and labels, as the SDKs of the field fetch them. */
import type { Command } from 'commander';
import * as api from '#wire/public-api/operations.ts';
import type { PromptBody } from '#wire/public-api/projects/context.ts';
import { readJson } from '../files/dataset-items.ts';
import { readText } from '../files/input.ts';
import type { Context } from '../terminal/context.ts';
import { describePrompt, listPrompts } from '../views/context.ts';
import { usageError } from '../views/report.ts';
import {
  addCommand,
  addPaging,
  addVersion,
  clientFor,
  collect,
  type PagingOptions,
  printAnswer,
  printPage,
  type ServiceOptions,
  withService,
} from './command.ts';
import { parseVersion } from './context.ts';

const given = <Value>(name: string, value: Value | undefined): Record<string, Value> =>
  value === undefined ? {} : { [name]: value };

type ListOptions = ServiceOptions & PagingOptions & { name?: string; label?: string; tag?: string };

const addList = (prompts: Command, context: Context): void => {
  const command = addCommand(prompts, {
    usage: 'list',
    summary: 'the prompts of the project, newest first',
    example: 'svc prompts list --label production',
  })
    .option('--name <name>', 'only the prompt of this name')
    .option('--label <label>', 'only those with a version of this label')
    .option('--tag <tag>', 'only those with this tag');
  withService(addPaging(command)).action(async (options: ListOptions) => {
    const { page, limit, name, label, tag } = options;
    const query = {
      ...{ page: String(page), limit: String(limit) },
      ...given('name', name),
      ...given('label', label),
      ...given('tag', tag),
    };
    const { body } = await clientFor(context, options).send(api.listPrompts, { query });
    printPage(context, options, body, listPrompts);
  });
};

type ShowOptions = ServiceOptions & { version?: number; label?: string; raw?: boolean };

const addShow = (prompts: Command, context: Context): void => {
  const command = addCommand(prompts, {
    usage: 'show <name>',
    summary: 'the version that is in production, or another',
    example: 'svc prompts show greeting --label staging',
  })
    .option('--label <label>', 'the version that has this label; production unless given')
    .option('--raw', 'parts of other prompts as they are written');
  addVersion(command, { about: 'this version', formerly: 'at', parse: parseVersion });
  withService(command).action(async (promptName: string, options: ShowOptions) => {
    const { version, label, raw } = options;
    const query = {
      ...given('version', version?.toString()),
      ...given('label', label),
      ...(raw === true ? { resolve: 'false' } : {}),
    };
    const input = { params: { promptName }, query };
    const { body } = await clientFor(context, options).send(api.getPrompt, input);
    printAnswer(context, options, body, () => describePrompt(body));
  });
};

type CreateOptions = ServiceOptions & {
  chat?: boolean;
  config?: string;
  label?: string[];
  tag?: string[];
  message?: string;
};

const addCreate = (prompts: Command, context: Context): void => {
  const command = addCommand(prompts, {
    usage: 'create <name> <prompt>',
    summary: 'create a prompt, or its next version: a text, @file, or - for standard input',
    example: [
      'svc prompts create greeting "Hello {{name}}" --label production',
      'svc prompts create support @messages.json --chat',
    ].join('\n'),
  })
    .option('--chat', 'the prompt is a JSON list of messages {role, content}')
    .option('--config <json>', 'what goes with it: JSON, @file, or -')
    .option('--label <label>', 'a label that moves to this version; repeatable', collect)
    .option('--tag <tag>', 'a tag of the name; repeatable', collect)
    .option('-m, --message <text>', 'why it changed');
  withService(command).action(async (name: string, prompt: string, options: CreateOptions) => {
    const { chat, config, label, tag, message } = options;
    const body: PromptBody = {
      name,
      type: chat === true ? 'chat' : 'text',
      prompt:
        chat === true
          ? await readJson(context, prompt, 'the prompt')
          : await readText(context, prompt),
      ...(config === undefined ? {} : { config: await readJson(context, config, '--config') }),
      ...given('labels', label),
      ...given('tags', tag),
      ...given('commitMessage', message),
    };
    const answer = await clientFor(context, options).send(api.createPrompt, { body });
    printAnswer(
      context,
      options,
      answer.body,
      () => `${name} is at version ${answer.body.version}`,
    );
  });
};

const addRest = (prompts: Command, context: Context): void => {
  const label = addCommand(prompts, {
    usage: 'label <name> <version> <label...>',
    summary: 'give labels to a version, taken from the versions that had them',
    example: 'svc prompts label greeting 3 production',
  });
  withService(label).action(
    async (name: string, version: string, labels: string[], options: ServiceOptions) => {
      const input = {
        params: { promptName: name, promptVersion: version },
        body: { newLabels: labels },
      };
      const { body } = await clientFor(context, options).send(api.labelPrompt, input);
      printAnswer(context, options, body, () => describePrompt(body));
    },
  );
  const remove = addCommand(prompts, {
    usage: 'delete <name>',
    summary: 'delete a prompt, or one version of it',
    example: 'svc prompts delete greeting --version 2',
  })
    .option('--label <label>', 'only the version that has this label')
    .option('--all', 'the prompt with all versions');
  addVersion(remove, { about: 'only this version', formerly: 'at', parse: parseVersion });
  withService(remove).action(
    async (promptName: string, options: ShowOptions & { all?: boolean }) => {
      const { version, label: ofLabel, all } = options;
      if ([version, ofLabel, all].filter((each) => each !== undefined).length !== 1) {
        throw usageError('say what goes: --version, --label, or --all');
      }
      const query = { ...given('version', version?.toString()), ...given('label', ofLabel) };
      const input = { params: { promptName }, query };
      await clientFor(context, options).send(api.deletePrompt, input);
      printAnswer(context, options, { deleted: true }, () => `${promptName} is deleted`);
    },
  );
};

export const addPrompts = (program: Command, context: Context): void => {
  const prompts = program.command('prompts').description('prompts, in versions with labels');
  addList(prompts, context);
  addShow(prompts, context);
  addCreate(prompts, context);
  addRest(prompts, context);
};
