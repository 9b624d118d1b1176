/** `svc context`: pushes and pulls the context of agents (prompts, skills and the like) by name and version. */
import { type Command, Option } from 'commander';
import { AppError } from '#domain/error.ts';
import type { Client } from '#wire/client.ts';
import * as api from '#wire/public-api/operations.ts';
import {
  type ContextKind,
  type ContextVersionView,
  contextKinds,
} from '#wire/public-api/projects/context.ts';
import { readMember } from '../files/dataset-items.ts';
import { parseJson, readText } from '../files/input.ts';
import type { Context } from '../terminal/context.ts';
import { formatCount } from '../terminal/print.ts';
import { contentText, describeVersion, listRepos } from '../views/context.ts';
import {
  addCommand,
  addVersion,
  clientFor,
  collect,
  given,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  setVerdict,
  withService,
} from './command.ts';
import { addListCommand, addRequestCommand } from './request-command.ts';

/** Restricts the argument `<kind>` of a command to the kinds that exist. */
const limitKind = (command: Command): Command => {
  const kind = command.registeredArguments.find((argument) => argument.name() === 'kind');
  if (kind === undefined) throw new AppError('internal', 'the command has no argument <kind>');
  kind.choices([...contextKinds]);
  kind.description = 'which kind';
  return command;
};

/** Returns the argument `<kind>`, which commander has already checked. */
const kindOf = (text: string): ContextKind => text as ContextKind;

export const parseVersion = parseNumber({ min: 1, max: 2 ** 31 - 1, whole: true });

type VersionOptions = ServiceOptions & { version?: number; label?: string };

const addVersionOptions = (command: Command): Command =>
  addVersion(command, {
    ...{
      about: 'number of the version (default: the latest)',
      formerly: 'at',
      parse: parseVersion,
    },
  }).option('--label <label>', 'label of the version');

const readVersion = async (
  client: Client,
  params: { kind: ContextKind; identifier: string },
  { version, label }: VersionOptions,
): Promise<ContextVersionView> => {
  const query = { ...given('version', version?.toString()), ...given('label', label) };
  return (await client.send(api.getContext, { params, query })).body as ContextVersionView;
};

const addList = (repos: Command, context: Context): void => {
  addListCommand(repos, context, {
    usage: 'list <kind>',
    summary: 'list the repositories of a kind, newest first',
    example: 'svc context list skills --label production',
    filters: {
      label: new Option('--label <label>', 'only repositories with a version that has this label'),
      tag: new Option('--tag <tag>', 'only repositories with this tag'),
    },
    options: limitKind,
    operation: api.listContext,
    input: ([kind]) => ({ params: { kind: kindOf(kind) } }),
    text: listRepos,
  });
};

const addShow = (repos: Command, context: Context): void => {
  const command = addCommand(repos, {
    usage: 'show <kind> <name>',
    summary: 'show the latest version, or another one, with its details',
    example: 'svc context show skills search --version 3',
  });
  withService(addVersionOptions(limitKind(command))).action(
    async (kind: ContextKind, identifier: string, options: VersionOptions) => {
      const client = clientFor(context, options);
      const view = await readVersion(client, { kind, identifier }, options);
      printAnswer(context, options, view, () => describeVersion(view));
    },
  );
};

const addPull = (repos: Command, context: Context): void => {
  const command = addCommand(repos, {
    usage: 'pull <kind> <name>',
    summary: 'print only the content: a text as it is, other values as JSON',
    example: 'svc context pull agents support --label production > AGENTS.md',
  });
  withService(addVersionOptions(limitKind(command))).action(
    async (kind: ContextKind, identifier: string, options: VersionOptions) => {
      const client = clientFor(context, options);
      const view = await readVersion(client, { kind, identifier }, options);
      if (options.json === true) printAnswer(context, options, view, () => '');
      else context.out.writeExactly(contentText(view.content));
    },
  );
};

const addExists = (repos: Command, context: Context): void => {
  const command = addCommand(repos, {
    usage: 'exists <kind> <name>',
    summary: 'check whether a repository exists: exit status 0 if it does, otherwise 1',
    example: 'svc context exists prompts greeting || echo "not yet"',
    decides: true,
  });
  withService(addVersionOptions(limitKind(command))).action(
    async (kind: ContextKind, identifier: string, options: VersionOptions) => {
      const { version, label } = options;
      const query = {
        exists: 'true',
        ...given('version', version?.toString()),
        ...given('label', label),
      };
      const input = { params: { kind, identifier }, query };
      const { body } = await clientFor(context, options).send(api.getContext, input);
      if (!('exists' in body))
        throw new AppError('internal', 'the answer of the service lacks the member "exists"');
      printAnswer(context, options, body, () =>
        body.exists
          ? `${identifier} exists, version ${body.version}`
          : `${identifier} does not exist`,
      );
      setVerdict(context, body.exists);
    },
  );
};

type PushOptions = {
  asJson?: boolean;
  config?: string;
  label?: string[];
  tag?: string[];
  message?: string;
  base?: number;
};

/** Reads the content as text. Reads it as JSON if `asJson` is set or the file's name ends in `.json`. */
const readContent = async (
  context: Context,
  content: string,
  { asJson = content.startsWith('@') && content.endsWith('.json') }: PushOptions,
): Promise<unknown> => {
  const text = await readText(context, content);
  return asJson
    ? parseJson(text, content.startsWith('@') ? content.slice(1) : 'the content')
    : text;
};

const addPush = (repos: Command, context: Context): void => {
  addRequestCommand(repos, context, {
    usage: 'push <kind> <name> <content>',
    summary:
      'push the next version: a text, @file, or - for standard input; *.json is pushed as JSON',
    example: [
      'svc context push skills search @search.md --label production -m "look in issues first"',
      'svc context push memory support @memory.json --base 4',
    ].join('\n'),
    options: (command) =>
      limitKind(command)
        .option('--as-json', 'treat the content as JSON, whatever the name of its file')
        .option('--config <json>', 'configuration stored with the version: JSON, @file, or -')
        .option('--label <label>', 'label to move to this version; repeatable', collect)
        .option('--tag <tag>', 'tag of the repository; repeatable', collect)
        .option('-m, --message <text>', 'reason for the new version')
        .option(
          '--base <version>',
          'number of the latest version that the push is based on, 0 for none; the push is refused if another is the latest',
          parseNumber({ min: 0, max: 2 ** 31 - 1, whole: true }),
        ),
    operation: api.pushContext,
    input: async ([kind, identifier, content], options: PushOptions) => ({
      params: { kind: kindOf(kind), identifier },
      body: {
        content: await readContent(context, content, options),
        ...(await readMember(context, 'config', options.config)),
        ...given('labels', options.label),
        ...given('tags', options.tag),
        ...given('message', options.message),
        ...given('baseVersion', options.base),
      },
    }),
    text: ({ version }, _view, [, identifier]) => `${identifier} is at version ${version}`,
  });
};

const addDelete = (repos: Command, context: Context): void => {
  addRequestCommand(repos, context, {
    usage: 'delete <kind> <name>',
    summary: 'delete a repository with all of its versions',
    example: 'svc context delete memory support',
    options: limitKind,
    operation: api.deleteContext,
    input: ([kind, identifier]) => ({ params: { kind: kindOf(kind), identifier } }),
    text: ({ deleted }, _view, [, identifier]) =>
      `${identifier} is deleted, ${formatCount(deleted, 'version')}`,
  });
};

export const addContext = (program: Command, context: Context): void => {
  const repos = program
    .command('context')
    .description('context of agents: agents, prompts, skills, memory');
  for (const add of [addList, addShow, addPull, addExists, addPush, addDelete]) add(repos, context);
};
