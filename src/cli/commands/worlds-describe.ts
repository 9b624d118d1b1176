/**
 * `svc worlds describe`: a world of the service, or what the world tree in a folder compiles to,
 * which needs no service.
 */
import type { Command } from 'commander';
import { describeContract } from '#language/artifacts/describe.ts';
import { compileTree } from '#language/compile/compile.ts';
import { getWorld, listWorldEntities } from '#wire/public-api/operations.ts';
import {
  addCommand,
  clientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { namesFolder, readTree, withFolderHint } from '../input.ts';
import { problemsError } from '../report.ts';
import { describeWholeWorld, viewContract } from '../views/world.ts';

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
  const client = clientFor(context, options);
  const { body: world } = await client.send(getWorld, { params: { slug } });
  const { body } = await client.send(listWorldEntities, { params: { slug } });
  printAnswer(context, options, { ...world, entities: body.data }, () =>
    describeWholeWorld(world, body.data, context.colors),
  );
};

export const addWorldsDescribe = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'describe <world>',
    summary:
      'a world of the service by its slug, or a folder (./crm) with a world tree, compiled here',
    example: 'svc worlds describe code-hosting\nsvc worlds describe ./src/templates/code-hosting',
  });
  withService(command).action(async (world: string, options: ServiceOptions) => {
    if (namesFolder(world)) describeFolder(context, world, options);
    else await withFolderHint(context, world, () => describeSlug(context, world, options));
  });
};
