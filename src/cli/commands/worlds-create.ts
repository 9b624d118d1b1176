/**
 * `svc worlds create`: creates a world from a template of the service or from a folder, optionally with rows of files.
 * With `--batch`, creates many worlds, one for each line of a file.
 */
import { type Command, Option } from 'commander';
import { redactModes } from '#domain/batch.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import type { CreateWorldBody } from '#wire/public-api/worlds/world.ts';
import { noteBase } from '../files/base-note.ts';
import { namesFolder, withFolderHint } from '../files/input.ts';
import { readSeedRows, type SeedRows, withPlaces } from '../files/seed-rows.ts';
import { readWorldSource } from '../service/world-body.ts';
import { type Context, viewOf } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { usageError } from '../views/report.ts';
import { describeWorld } from '../views/world.ts';
import {
  addCommand,
  clientFor,
  collect,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';
import { createBatchOfWorlds } from './worlds-create-batch.ts';

type Options = ServiceOptions & {
  from?: string;
  overlay?: string;
  rows?: string[];
  entity?: string;
  redact?: (typeof redactModes)[number];
  name?: string;
  description?: string;
  message?: string;
  batch?: string;
};

type Ready = { body: CreateWorldBody; seed: SeedRows | undefined };

const readBody = async (context: Context, slug: string, options: Options): Promise<Ready> => {
  const { name, description, message, entity, redact } = options;
  const { body, contract } = readWorldSource(context, options.from, options.overlay);
  const seed =
    options.rows === undefined
      ? undefined
      : await readSeedRows(context, options.rows, { entity, contract });
  const data = seed && { rows: seed.rows, ...(redact === undefined ? {} : { redact }) };
  return {
    seed,
    body: {
      slug,
      ...body,
      ...(data === undefined ? {} : { data }),
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
      ...(message === undefined ? {} : { message }),
    },
  };
};

const createOne = async (
  context: Context,
  slug: string,
  from: string,
  options: Options,
): Promise<void> => {
  const { body, seed } = await readBody(context, slug, options);
  const { body: world } = await withFolderHint(context, from, async () => {
    const client = clientFor(context, options);
    const progress = { out: context.err, step: `creating ${slug}` };
    return withProgress(progress, () => client.send(createWorld, { body }));
  }).catch((error: unknown) => {
    throw seed === undefined ? error : withPlaces(error, seed);
  });
  // With an overlay, the folder is not identical to the created version.
  if (namesFolder(from) && options.overlay === undefined) {
    noteBase(context, from, world.slug, world.version.id);
  }
  printAnswer(context, options, world, () => describeWorld(world, viewOf(context)));
};

const ofOne = ['overlay', 'rows', 'entity', 'redact', 'name', 'description', 'message'] as const;

const checkUsage = (slug: string | undefined, options: Options): void => {
  if (options.batch === undefined) {
    if (slug === undefined)
      throw usageError('name the slug of the new world, or a file with --batch <file>');
    if (options.from === undefined)
      throw usageError('required option --from <source> not specified');
    return;
  }
  if (slug !== undefined) throw usageError('--batch has the slugs in its lines: give no other');
  const other = ofOne.find((name) => options[name] !== undefined);
  if (other !== undefined) {
    throw usageError(`--${other} is for one world; lines of --batch have their own`);
  }
};

export const addWorldsCreate = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'create [slug]',
    summary: 'create a world and its first version',
    example: [
      'svc worlds create code-hosting --from code-hosting',
      'svc worlds create crm --from ./crm --rows contacts.csv',
      'svc worlds create --batch worlds.jsonl',
    ].join('\n'),
  })
    .option(
      '--from <source>',
      'a template of the service, workspace:<slug>[@<version>] for a connector, or a folder (./crm)',
    )
    .option(
      '--overlay <folder>',
      'folder or files whose files replace those of the source before it is compiled',
    )
    .option(
      '--rows <file>',
      'rows for the first version: JSON, JSONL, CSV or Parquet; repeatable',
      collect,
    )
    .option('--entity <name>', 'entity of rows that do not name one themselves')
    .addOption(
      new Option(
        '--redact <mode>',
        "how the world's [redact] policy is applied to the rows (default: off)",
      ).choices([...redactModes]),
    )
    .option('--name <text>', 'display name')
    .option('--description <text>', 'description of the world')
    .option('-m, --message <text>', 'reason recorded on the first version')
    .option(
      '--batch <file>',
      'file of many worlds, one line of JSON each: slug, from, overlay, name, description, message, data; "-" is standard input. The exit status is 2 if any failed',
    );
  withService(command).action(async (slug: string | undefined, options: Options) => {
    checkUsage(slug, options);
    const { batch, from, json } = options;
    if (batch !== undefined) {
      await createBatchOfWorlds(context, clientFor(context, options), { batch, from, json });
    } else await createOne(context, slug ?? '', from ?? '', options);
  });
};
