/** Commands that show worlds and templates. */
import { type Command, Option } from 'commander';
import { describeContract } from '#language/artifacts/describe.ts';
import { compileTree } from '#language/compile/compile.ts';
import {
  getWorld,
  listTemplates,
  listWorldEntities,
  listWorldRequests,
  listWorlds,
} from '#wire/public-api/operations.ts';
import { namesFolder, readTree, withFolderHint } from '../files/input.ts';
import type { RequestFilter } from '../service/requests.ts';
import type { Context } from '../terminal/context.ts';
import { ProblemsError } from '../views/report.ts';
import { describeRequests } from '../views/request.ts';
import {
  describeWholeWorld,
  listTemplates as templatesText,
  viewContract,
  listWorlds as worldsText,
} from '../views/world.ts';
import {
  addCommand,
  addRequestFilters,
  addressWith,
  addWorldVersion,
  clientFor,
  filterOf,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';
import { addListCommand, addRequestCommand } from './request-command.ts';

export const addWorldsList = (worlds: Command, context: Context): void => {
  addListCommand(worlds, context, {
    usage: 'list',
    summary: 'list the worlds of the project, newest first',
    example: 'svc worlds list',
    operation: listWorlds,
    text: worldsText,
  });
};

const describeFolder = (context: Context, folder: string, options: ServiceOptions): void => {
  const tree = readTree(context, folder);
  const compiled = compileTree(tree);
  if (!compiled.ok) throw new ProblemsError(folder, compiled.problems, tree);
  const { contract, baseRows } = compiled;
  const counts = Object.fromEntries(
    Object.entries(baseRows).map(([entity, rows]) => [entity, rows.length]),
  );
  const answer = { ...describeContract(contract), counts };
  printAnswer(context, options, answer, (view) => viewContract(contract, counts, view));
};

const describeSlug = async (
  context: Context,
  slug: string,
  options: ServiceOptions,
): Promise<void> => {
  const client = clientFor(context, options);
  const { body: world } = await client.send(getWorld, { params: { slug } });
  const { body } = await client.send(listWorldEntities, { params: { slug } });
  printAnswer(context, options, { ...world, entities: body.data }, (view) =>
    describeWholeWorld(world, body.data, view),
  );
};

export const addWorldsDescribe = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'describe <world>',
    summary:
      'describe a world by its slug or <slug>@<version>, or a folder (./crm), which is compiled on this machine',
    example: 'svc worlds describe code-hosting\nsvc worlds describe ./src/templates/code-hosting',
  });
  type Options = ServiceOptions & { version?: string };
  withService(addWorldVersion(command)).action(async (given: string, options: Options) => {
    const world = addressWith(given, options.version);
    if (namesFolder(world)) describeFolder(context, world, options);
    else await withFolderHint(context, world, () => describeSlug(context, world, options));
  });
};

export const addWorldsTemplates = (worlds: Command, context: Context): void => {
  addRequestCommand(worlds, context, {
    usage: 'templates',
    summary: 'list the templates of the service',
    example: 'svc worlds templates',
    operation: listTemplates,
    text: (body, view) => templatesText(body.data, view),
  });
};

export const addWorldsRequests = (worlds: Command, context: Context): void => {
  addListCommand(worlds, context, {
    usage: 'requests <world>',
    summary: 'list the requests to all sessions of a world, newest first',
    example: 'svc worlds requests code-hosting --via webhook --after 2026-03-01',
    filters: { after: new Option('--after <time>', 'only requests after this time, ISO 8601') },
    options: addRequestFilters,
    operation: listWorldRequests,
    input: ([slug], options: RequestFilter) => ({ params: { slug }, query: filterOf(options) }),
    text: describeRequests,
  });
};
