/**
 * `svc worlds create`: makes a world from a template of the service or from a folder.
 *
 * A folder is compiled here first, with the library that the service uses too, so that its problems
 * are shown with their lines and nothing broken is sent.
 */
import type { Command } from 'commander';
import { compileTree } from '#language/compile/compile.ts';
import type { Row } from '#language/contract.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import type { CreateWorldBody } from '#wire/public-api/world.ts';
import { noteBase } from '../files/base-note.ts';
import {
  encodeTree,
  namesFolder,
  overlayTree,
  readRows,
  readTree,
  withFolderHint,
} from '../files/input.ts';
import type { Context } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { ProblemsError } from '../views/report.ts';
import { describeWorld } from '../views/world.ts';
import {
  addCommand,
  clientFor,
  collect,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';

type Options = ServiceOptions & {
  from: string;
  overlay?: string;
  rows?: string[];
  entity?: string;
  name?: string;
  description?: string;
  message?: string;
};

/** The members of the body that say where the world comes from. */
const readSource = (
  context: Context,
  { from, overlay }: Options,
): Pick<CreateWorldBody, 'from' | 'overlay'> => {
  const laidOver = overlay === undefined ? [] : readTree(context, overlay);
  if (!namesFolder(from)) {
    return { from, ...(overlay === undefined ? {} : { overlay: encodeTree(laidOver) }) };
  }
  const tree = overlayTree(readTree(context, from), laidOver);
  const compiled = compileTree(tree);
  if (!compiled.ok) throw new ProblemsError(from, compiled.problems, tree);
  return { from: encodeTree(tree) };
};

const readData = (
  context: Context,
  options: Options,
): { rows: Record<string, Row[]> } | undefined =>
  options.rows === undefined
    ? undefined
    : { rows: readRows(context, options.rows, options.entity) };

const readBody = (context: Context, slug: string, options: Options): CreateWorldBody => {
  const data = readData(context, options);
  const { name, description, message } = options;
  return {
    slug,
    ...readSource(context, options),
    ...(data === undefined ? {} : { data }),
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(message === undefined ? {} : { message }),
  };
};

export const addWorldsCreate = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'create <slug>',
    summary: 'create a world and its first version',
    example: [
      'svc worlds create code-hosting --from code-hosting',
      'svc worlds create crm --from ./crm --rows contacts.jsonl --entity contacts',
    ].join('\n'),
  })
    .requiredOption(
      '--from <source>',
      'a template of the service, or a folder (./crm) with a world tree',
    )
    .option('--overlay <folder>', 'files laid over the source before it is compiled')
    .option('--rows <file>', 'rows for the first version, .json or .jsonl; repeatable', collect)
    .option('--entity <name>', 'entity of the rows in files that do not name it')
    .option('--name <text>', 'display name')
    .option('--description <text>', 'what the world is')
    .option('-m, --message <text>', 'reason recorded on the first version');
  withService(command).action(async (slug: string, options: Options) => {
    const body = readBody(context, slug, options);
    const { body: world } = await withFolderHint(context, options.from, async () => {
      const client = clientFor(context, options);
      const progress = { out: context.err, step: `creating ${slug}` };
      return withProgress(progress, () => client.send(createWorld, { body }));
    });
    // With another tree laid over it, the folder is not the version that was made.
    if (namesFolder(options.from) && options.overlay === undefined) {
      noteBase(context, options.from, world.slug, world.version.id);
    }
    printAnswer(context, options, world, () => describeWorld(world));
  });
};
