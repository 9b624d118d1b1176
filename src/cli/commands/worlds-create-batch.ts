/**
 * `svc worlds create --batch`: creates many worlds, one for each line of JSON. A line that fails does not prevent the
 * others. Results are printed in the order of the lines.
 */
import { pMapIterable } from 'p-map';
import type { FoundBatch } from '#data/formats/found.ts';
import { readRows } from '#data/formats/read-rows.ts';
import { AppError, describeError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import type { Client } from '#wire/client.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import type { CreateWorldBody, WorldDetail } from '#wire/public-api/worlds/world.ts';
import { openSources } from '../files/row-sources.ts';
import { readWorldSource } from '../service/world-body.ts';
import type { Context } from '../terminal/context.ts';
import { formatCount } from '../terminal/print.ts';
import { printLine } from './command.ts';

const someFailed = 2;
/** Maximum number of worlds that are created concurrently. */
const atOnce = 4;

type Line = { at: number } & ({ row: Row } | { fault: string });
type Made = { line: number; slug: string | null } & ({ world: WorldDetail } | { error: AppError });

const members = ['slug', 'from', 'name', 'description', 'message', 'overlay', 'data'];

async function* linesOf(batches: AsyncIterable<FoundBatch>): AsyncGenerator<Line> {
  for await (const { rows, faults } of batches) {
    const lines: Line[] = [
      ...rows.map(({ at, row }) => ({ at, row })),
      ...faults.map(({ at, detail }) => ({ at, fault: detail })),
    ];
    yield* lines.sort((a, b) => a.at - b.at);
  }
}

const textOf = (row: Row, name: string): string | undefined => {
  const value = row[name] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw new AppError('invalid', `"${name}" is not a text`);
};

const bodyOf = (
  context: Context,
  row: Row,
  defaults: { from?: string | undefined },
): CreateWorldBody => {
  const unknown = Object.keys(row).find((name) => !members.includes(name));
  if (unknown !== undefined) {
    throw new AppError(
      'invalid',
      `"${unknown}" is not a member of a line; the members are ${members.join(', ')}`,
    );
  }
  const slug = textOf(row, 'slug');
  if (slug === undefined) throw new AppError('invalid', '"slug" is missing');
  const { body } = readWorldSource(
    context,
    textOf(row, 'from') ?? defaults.from,
    textOf(row, 'overlay'),
  );
  const texts = Object.fromEntries(
    ['name', 'description', 'message']
      .map((name) => [name, textOf(row, name)])
      .filter(([, value]) => value !== undefined),
  );
  const data = row.data ?? undefined;
  if (data !== undefined && !isObject(data))
    throw new AppError('invalid', '"data" is not an object');
  // The service validates the rows.
  return {
    slug,
    ...body,
    ...texts,
    ...(data === undefined ? {} : { data: data as CreateWorldBody['data'] }),
  } as CreateWorldBody;
};

const slugOf = (line: Line): string | null =>
  'row' in line && typeof line.row.slug === 'string' ? line.row.slug : null;

const show = (made: Made): string => {
  const name = made.slug ?? '-';
  if ('error' in made) {
    const fields = made.error.fields
      .slice(0, 3)
      .map(({ path, message }) => `${path.join('.')}: ${message}`);
    const why = [describeError(made.error), ...fields].join('; ');
    return `line ${made.line}  failed   ${name}: ${why}`;
  }
  const { version } = made.world;
  return `line ${made.line}  created  ${name}  version ${version.number} (${version.id})`;
};

const answerOf = (made: Made): object => {
  if (!('error' in made)) return made;
  const { code, message, fields } = made.error;
  const { line, slug } = made;
  return {
    line,
    slug,
    error: { code, message, ...(fields.length === 0 ? {} : { fields }) },
  };
};

/** Creates the worlds of a file. The exit status is 2 if any of them could not be created. */
export const createBatchOfWorlds = async (
  context: Context,
  client: Client,
  options: { batch: string; from?: string | undefined; json?: boolean | undefined },
): Promise<void> => {
  const sources = openSources(context, [options.batch]);
  const [source] = sources;
  if (source === undefined) return;
  const make = async (line: Line): Promise<Made> => {
    const entry = { line: line.at, slug: slugOf(line) };
    try {
      if ('fault' in line) throw new AppError('invalid', line.fault);
      const body = bodyOf(context, line.row, options);
      return { ...entry, world: (await client.send(createWorld, { body })).body };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { ...entry, error };
    }
  };
  const lines = linesOf(readRows(source, { entity: 'worlds' }));
  let created = 0;
  let failed = 0;
  for await (const made of pMapIterable(lines, make, { concurrency: atOnce })) {
    if ('error' in made) failed += 1;
    else created += 1;
    printLine(context, { json: options.json === true }, answerOf(made), () => show(made));
  }
  context.err.write(`${formatCount(created, 'world')} created, ${failed} failed\n`);
  if (failed > 0) context.setExitStatus(someFailed);
};
