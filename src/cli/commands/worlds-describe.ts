/**
 * `svc worlds describe`: a world of the service, or what the world tree in a folder compiles to,
 * which needs no service.
 */
import type { Command } from 'commander';
import { compileTree } from '#language/compile.ts';
import { describeContract } from '#language/describe.ts';
import { getWorld } from '#wire/public-api/operations.ts';
import {
  addCommand,
  clientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { namesFolder, readTree } from '../input.ts';
import { problemsError } from '../report.ts';
import { describeWorld, viewContract } from '../views/world.ts';

const describeFolder = (context: Context, folder: string, options: ServiceOptions): void => {
  const tree = readTree(context, folder);
  const compiled = compileTree(tree);
  if (!compiled.ok) throw problemsError(folder, compiled.problems, tree);
  const { contract, baseRows } = compiled;
  const counts = Object.fromEntries(
    Object.entries(baseRows).map(([entity, rows]) => [entity, rows.length]),
  );
  const answer = { ...describeContract(contract), counts };
  printAnswer(context, options, answer, () => viewContract(contract, counts, context.colors));
};

const describeSlug = async (
  context: Context,
  slug: string,
  options: ServiceOptions,
): Promise<void> => {
  const { body } = await clientFor(context, options).send(getWorld, { params: { slug } });
  printAnswer(context, options, body, () => describeWorld(body));
};

export const addWorldsDescribe = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'describe <world>',
    summary: 'a world of the service by its slug, or a folder with a world tree, compiled here',
    example: 'svc worlds describe code-hosting\nsvc worlds describe ./src/templates/code-hosting',
  });
  withService(command).action(async (world: string, options: ServiceOptions) => {
    if (namesFolder(context, world)) describeFolder(context, world, options);
    else await describeSlug(context, world, options);
  });
};
