/** `svc context`: pushes and pulls the context of agents (prompts, skills and the like) by name and version. */
import { Argument, type Command } from 'commander';
import { AppError } from '#domain/error.ts';
import type { Client } from '#wire/client.ts';
import * as api from '#wire/public-api/operations.ts';
import {
  type ContextKind,
  type ContextVersionView,
  contextKinds,
} from '#wire/public-api/projects/context.ts';
import { readJson } from '../files/dataset-items.ts';
import { parseJson, readText } from '../files/input.ts';
import type { Context } from '../terminal/context.ts';
import { formatCount } from '../terminal/print.ts';
import { contentText, describeVersion, listRepos } from '../views/context.ts';
import {
  addCommand,
  addPaging,
  addVersion,
  clientFor,
  collect,
  type PagingOptions,
  parseNumber,
  printAnswer,
  printPage,
  type ServiceOptions,
  setVerdict,
  withService,
} from './command.ts';

const kindArgument = (): Argument =>
  new Argument('<kind>', 'which kind').choices([...contextKinds]);

const given = <Value>(name: string, value: Value | undefined): Record<string, Value> =>
  value === undefined ? {} : { [name]: value };

export const parseVersion = parseNumber({ min: 1, max: 2 ** 31 - 1, whole: true });

type VersionOptions = ServiceOptions & { version?: number; label?: string };

const addVersionOptions = (command: Command): Command =>
  addVersion(command, {
    ...{ about: 'this version in place of the latest', formerly: 'at', parse: parseVersion },
  }).option('--label <label>', 'the version that has this label');

const readVersion = async (
  client: Client,
  params: { kind: ContextKind; identifier: string },
  { version, label }: VersionOptions,
): Promise<ContextVersionView> => {
  const query = { ...given('version', version?.toString()), ...given('label', label) };
  return (await client.send(api.getContext, { params, query })).body as ContextVersionView;
};

type ListOptions = ServiceOptions & PagingOptions & { label?: string; tag?: string };

const addList = (repos: Command, context: Context): void => {
  const command = addCommand(repos, {
    usage: 'list',
    summary: 'repositories of a kind, newest first',
    example: 'svc context list skills --label production',
  })
    .addArgument(kindArgument())
    .option('--label <label>', 'only those with a version of this label')
    .option('--tag <tag>', 'only those with this tag');
  withService(addPaging(command)).action(async (kind: ContextKind, options: ListOptions) => {
    const { page, limit, label, tag } = options;
    const query = {
      ...{ page: String(page), limit: String(limit) },
      ...given('label', label),
      ...given('tag', tag),
    };
    const input = { params: { kind }, query };
    const { body } = await clientFor(context, options).send(api.listContext, input);
    printPage(context, options, body, listRepos);
  });
};

const addShow = (repos: Command, context: Context): void => {
  const show = addCommand(repos, {
    usage: 'show',
    summary: 'the latest version, or another, with all that is said of it',
    example: 'svc context show skills search --version 3',
  })
    .addArgument(kindArgument())
    .argument('<name>');
  withService(addVersionOptions(show)).action(
    async (kind: ContextKind, identifier: string, options: VersionOptions) => {
      const client = clientFor(context, options);
      const view = await readVersion(client, { kind, identifier }, options);
      printAnswer(context, options, view, () => describeVersion(view));
    },
  );
  const pull = addCommand(repos, {
    usage: 'pull',
    summary: 'write the content alone: a text as it is, all else as JSON',
    example: 'svc context pull agents support --label production > AGENTS.md',
  })
    .addArgument(kindArgument())
    .argument('<name>');
  withService(addVersionOptions(pull)).action(
    async (kind: ContextKind, identifier: string, options: VersionOptions) => {
      const client = clientFor(context, options);
      const view = await readVersion(client, { kind, identifier }, options);
      if (options.json === true) printAnswer(context, options, view, () => '');
      else context.out.writeExactly(contentText(view.content));
    },
  );
  const exists = addCommand(repos, {
    usage: 'exists',
    summary: 'whether it is there: exit status 0, or 1',
    example: 'svc context exists prompts greeting || echo "not yet"',
    decides: true,
  })
    .addArgument(kindArgument())
    .argument('<name>');
  withService(addVersionOptions(exists)).action(
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
        throw new AppError('internal', 'the service did not say whether it is there');
      printAnswer(context, options, body, () =>
        body.exists
          ? `${identifier} is there, version ${body.version}`
          : `${identifier} is not there`,
      );
      setVerdict(context, body.exists);
    },
  );
};

type PushOptions = ServiceOptions & {
  asJson?: boolean;
  config?: string;
  label?: string[];
  tag?: string[];
  message?: string;
  base?: number;
};

/** Reads a text, or JSON if `asJson` is set or the file's name ends in `.json`. */
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
  const push = addCommand(repos, {
    usage: 'push',
    summary:
      'push the next version: a text, @file, or - for standard input; *.json is pushed as JSON',
    example: [
      'svc context push skills search @search.md --label production -m "look in issues first"',
      'svc context push memory support @memory.json --base 4',
    ].join('\n'),
  })
    .addArgument(kindArgument())
    .argument('<name>')
    .argument('<content>')
    .option('--as-json', 'the content is JSON, whatever its name')
    .option('--config <json>', 'what goes with it: JSON, @file, or -')
    .option('--label <label>', 'a label that moves to this version; repeatable', collect)
    .option('--tag <tag>', 'a tag of the name; repeatable', collect)
    .option('-m, --message <text>', 'why it changed')
    .option(
      '--base <version>',
      'only upon this version, 0 for none: refused where the latest is another',
      parseNumber({ min: 0, max: 2 ** 31 - 1, whole: true }),
    );
  withService(push).action(
    async (kind: ContextKind, identifier: string, content: string, options: PushOptions) => {
      const { config, label, tag, message, base } = options;
      const body = {
        content: await readContent(context, content, options),
        ...(config === undefined ? {} : { config: await readJson(context, config, '--config') }),
        ...given('labels', label),
        ...given('tags', tag),
        ...(message === undefined ? {} : { message }),
        ...(base === undefined ? {} : { baseVersion: base }),
      };
      const input = { params: { kind, identifier }, body };
      const answer = await clientFor(context, options).send(api.pushContext, input);
      printAnswer(
        context,
        options,
        answer.body,
        () => `${identifier} is at version ${answer.body.version}`,
      );
    },
  );
};

const addDelete = (repos: Command, context: Context): void => {
  const command = addCommand(repos, {
    usage: 'delete',
    summary: 'delete a repository with all of its versions',
    example: 'svc context delete memory support',
  })
    .addArgument(kindArgument())
    .argument('<name>');
  withService(command).action(
    async (kind: ContextKind, identifier: string, options: ServiceOptions) => {
      const params = { kind, identifier };
      const { body } = await clientFor(context, options).send(api.deleteContext, { params });
      const count = formatCount(body.deleted, 'version');
      printAnswer(context, options, body, () => `${identifier} is deleted, ${count}`);
    },
  );
};

export const addContext = (program: Command, context: Context): void => {
  const repos = program
    .command('context')
    .description('what agents are given to work with: agents, prompts, skills, memory');
  addList(repos, context);
  addShow(repos, context);
  addPush(repos, context);
  addDelete(repos, context);
};
