/**
 * `svc worlds data extract`: writes rows in the shape of a world, as JSONL, JSON or CSV. The rows come from a version
 * of the world, from files of a vendor's export or a query, or from a folder's captures. They are redacted as the world
 * demands, unless `--no-redact` is given. A summary counts the changed values.
 */

import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { createShaping } from '#data/formats/shape-rows.ts';
import { columnsOf } from '#data/formats/table-columns.ts';
import { AppError } from '#domain/error.ts';
import { own } from '#domain/json.ts';
import { compileTree } from '#language/compile/compile.ts';
import type { Contract, RedactPolicy, Row } from '#language/contract.ts';
import { extractCaptures } from '#language/edit/reconcile/extract-captures.ts';
import { captureFolder } from '#language/files/capture-json.ts';
import type { Client } from '#wire/client.ts';
import type { VersionDetail } from '#wire/public-api/worlds/version.ts';
import { namesFolder, readTree } from '../files/input.ts';
import { readSourceRows } from '../files/row-sources.ts';
import {
  fileSink,
  outputSink,
  type RowFormat,
  type RowWriter,
  rowFormats,
  type Sink,
  writeText,
} from '../files/row-writer.ts';
import { findContract } from '../service/contracts.ts';
import { readPages } from '../service/read-rows.ts';
import type { Context } from '../terminal/context.ts';
import { formatCount, formatJson } from '../terminal/print.ts';
import { type Progress, withProgress } from '../terminal/progress.ts';
import { listenForStop, stopReason } from '../terminal/stopping.ts';
import { describeExtract } from '../views/data.ts';
import { ProblemsError, usageError } from '../views/report.ts';
import {
  addCommand,
  addressWith,
  addWorldVersion,
  clientFor,
  type ServiceOptions,
  withData,
} from './command.ts';
import { collectWhere, type Where } from './data-query.ts';

type Options = ServiceOptions & {
  entity?: string;
  where?: Where;
  format?: RowFormat;
  out?: string;
  redact: boolean;
  version?: string;
};

/** Batch of an entity's rows, and the number of source rows that were read for the batch. */
type Found = {
  entity: string;
  rows: readonly Row[];
  read: number;
  /** Fields whose values redaction has already preserved, so that they must not be redacted again. */
  preserved?: readonly string[];
};

/** Source of rows, with the contract that shapes them. */
type Source = {
  contract: Contract;
  /** Redaction policy of the world; null if it has none. */
  policy: RedactPolicy | null;
  /** Total number of rows; undefined if it is not known. */
  total: number | undefined;
  read(signal: AbortSignal): AsyncIterable<Found>;
};

const entitiesOf = ({ entities }: Contract, only: string | undefined): string[] => {
  const names = entities.map(({ name }) => name);
  if (only === undefined) return names;
  if (names.includes(only)) return [only];
  throw new AppError('invalid', `the world has no entity "${only}"`, {
    detail: { hint: `the world has the entities ${names.join(', ')}` },
  });
};

/** Creates a source of the rows of a version. */
export const versionSource = (
  client: Client,
  { version, contract }: { version: VersionDetail; contract: Contract },
  { entity, where }: Pick<Options, 'entity' | 'where'>,
): Source => {
  const names = entitiesOf(contract, entity);
  const counts = version.entityCounts;
  return {
    contract,
    policy: contract.redact,
    total:
      where === undefined
        ? names.reduce((sum, name) => sum + (own(counts, name) ?? 0), 0)
        : undefined,
    async *read(signal) {
      for (const name of names) {
        for await (const rows of readPages(client, { version, entity: name, where, signal })) {
          yield { entity: name, rows, read: rows.length };
        }
      }
    },
  };
};

/** Creates a source of the rows in `captures/`. Values that redaction preserved at capture stay as they are. */
const capturesSource = (
  folder: string,
  tree: ReturnType<typeof readTree>,
  contract: Contract,
  { entity }: Options,
): Source => {
  const names = new Set(entitiesOf(contract, entity));
  if (!tree.some(({ path }) => path.startsWith(captureFolder))) {
    throw new AppError('invalid', `${folder} has no captures to extract rows from`, {
      detail: {
        hint: `capture the vendor with "svc worlds connector capture ${folder}", or give files of rows after the folder`,
      },
    });
  }
  const found = extractCaptures(tree);
  if (!found.ok)
    throw new ProblemsError(folder, found.problems, tree, 'has captures that cannot be read');
  const entities = found.entities.filter((one) => names.has(one.entity));
  return {
    contract,
    policy: contract.redact,
    total: undefined,
    async *read() {
      yield* entities;
    },
  };
};

/** Number of rows that are shaped and written together. */
const batchRows = 500;

const filesSource = (
  context: Context,
  names: readonly string[],
  contract: Contract,
  { entity }: Options,
): Source => {
  const known = new Set(entitiesOf(contract, undefined));
  entitiesOf(contract, entity);
  return {
    contract,
    policy: contract.redact,
    total: undefined,
    async *read() {
      let batch: Row[] = [];
      let of = '';
      const reading = { entity, contract, otherColumns: 'keep' as const };
      for await (const { place, entity: name, row } of readSourceRows(context, names, reading)) {
        if (!known.has(name)) {
          throw new AppError(
            'invalid',
            `${place} belongs to "${name}", which is not an entity of the world`,
            {
              detail: { hint: 'name the entity that the rows belong to: --entity' },
            },
          );
        }
        if (batch.length === batchRows || (name !== of && batch.length > 0)) {
          yield { entity: of, rows: batch, read: batch.length };
          batch = [];
        }
        of = name;
        batch.push(row);
      }
      if (batch.length > 0) yield { entity: of, rows: batch, read: batch.length };
    },
  };
};

const openSource = async (
  context: Context,
  world: string,
  files: readonly string[],
  options: Options,
): Promise<Source> => {
  if (options.where !== undefined && (files.length > 0 || namesFolder(world))) {
    throw usageError(
      '--where filters rows of a world of the service, and cannot be used with files',
    );
  }
  if (!namesFolder(world)) {
    const client = clientFor(context, options);
    const found = await findContract(client, world);
    return files.length === 0
      ? versionSource(client, found, options)
      : filesSource(context, files, found.contract, options);
  }
  const tree = readTree(context, world);
  const compiled = compileTree(tree);
  if (!compiled.ok) throw new ProblemsError(world, compiled.problems, tree);
  return files.length === 0
    ? capturesSource(world, tree, compiled.contract, options)
    : filesSource(context, files, compiled.contract, options);
};

const formatOf = ({ format, out = '' }: Options): RowFormat => {
  if (format !== undefined) return format;
  const [, ending] = /\.([a-z]+)(?:\.gz)?$/.exec(out) ?? [];
  return rowFormats.find((name) => name === ending) ?? 'jsonl';
};

const isFolder = (path: string): boolean =>
  path.endsWith('/') || (existsSync(path) && statSync(path).isDirectory());

type Writers = { writerOf(entity: string): RowWriter; sinks: Sink[]; close(): Promise<void> };

/** Opens one writer for all rows. If the output is a folder, opens one for each entity. */
const openWriters = (
  context: Context,
  contract: Contract,
  options: Options,
  losses: { values: number },
): Writers => {
  const { out } = options;
  const format = formatOf(options);
  const sinks: Sink[] = [];
  const open = (path: string | undefined, entity: string | undefined): RowWriter => {
    const sink = path === undefined ? outputSink(context.out) : fileSink(path);
    sinks.push(sink);
    const columns = (name: string) => columnsOf(contract, name);
    return writeText(sink, { format, entity, losses, columnsOf: columns });
  };
  const path = out === undefined || out === '-' ? undefined : resolve(context.cwd, out);
  if (path !== undefined && isFolder(out?.endsWith('/') ? `${path}/` : path)) {
    const writers = new Map<string, RowWriter>();
    const writerOf = (entity: string): RowWriter => {
      const writer = writers.get(entity) ?? open(join(path, `${entity}.${format}`), entity);
      writers.set(entity, writer);
      return writer;
    };
    const close = async (): Promise<void> => {
      for (const writer of writers.values()) await writer.close();
    };
    return { writerOf, sinks, close };
  }
  const [first] = contract.entities;
  const only = options.entity ?? (contract.entities.length === 1 ? first?.name : undefined);
  if (only === undefined && format === 'csv') {
    throw usageError(
      'a CSV file can only have rows of one entity: name it with --entity, or name a folder with --out',
    );
  }
  const writer = open(path, only);
  return { writerOf: () => writer, sinks, close: () => writer.close() };
};

/** Reads, shapes and writes all rows. If that fails, the written files are removed. */
const extract = async (context: Context, source: Source, options: Options) => {
  const { contract, policy, total } = source;
  const shaping = createShaping(contract, options.redact ? policy : null);
  const { counts, unknown } = shaping;
  const losses = { values: 0 };
  const writers = openWriters(context, contract, options, losses);
  const stopping = listenForStop();
  const of = total === undefined ? '' : ` of ${total.toLocaleString('en-US')}`;
  const work = async ({ showStep }: Pick<Progress, 'showStep'>): Promise<void> => {
    for await (const { entity, rows, read, preserved } of source.read(stopping.signal)) {
      stopping.signal.throwIfAborted();
      counts.read += read;
      await writers.writerOf(entity).write(
        entity,
        rows.map((row) => shaping.shape(entity, row, preserved)),
      );
      counts.rows += rows.length;
      showStep(`extracting rows: ${formatCount(counts.read, 'row')}${of}`);
    }
    await writers.close();
  };
  // If the rows themselves go to the terminal, a progress line would garble them.
  const isSeen = options.out === undefined && context.out.isTerminal;
  try {
    if (isSeen) await work({ showStep: () => undefined });
    else await withProgress({ out: context.err, step: 'extracting rows' }, work);
  } catch (error) {
    await Promise.all(writers.sinks.map((sink) => sink.abandon()));
    throw stopReason(stopping, error);
  } finally {
    stopping.release();
  }
  return { ...counts, unknown: [...unknown], valuesLost: losses.values };
};

export const addDataExtract = (data: Command, context: Context): void => {
  const command = addCommand(data, {
    usage: 'extract <world> [files...]',
    summary:
      "write rows shaped for a world and redacted: the world's own, from files, or from a folder's captures",
    example: [
      'svc worlds data extract crm --entity contacts --where state=open --out contacts.csv',
      'svc worlds data extract crm@3 --out ./rows/',
      'svc worlds data extract crm export.jsonl --entity contacts --out contacts.jsonl',
      'svc worlds data extract ./crm --out ./rows/',
    ].join('\n'),
  })
    .option('--entity <name>', 'only this entity; with files: entity of rows that do not name one')
    .option(
      '--where <field=value>',
      'only rows with this value, in the form of "svc worlds data query"; repeatable',
      collectWhere,
    )
    .addOption(
      new Option(
        '--format <name>',
        'format of the rows (default: by the ending of --out, or jsonl)',
      ).choices([...rowFormats]),
    )
    .option(
      '--out <path>',
      'a file, compressed if its name ends with .gz; or a folder, with one file for each entity',
    )
    .option('--no-redact', 'do not redact values')
    .option('--json', 'print the summary as JSON, on standard error');
  withData(addWorldVersion(command)).action(
    async (given: string, files: string[], options: Options) => {
      const world = addressWith(given, options.version);
      const source = await openSource(context, world, files, options);
      const done = await extract(context, source, options);
      const isRedacted = options.redact && source.policy !== null;
      if (options.json === true) context.err.writeExactly(formatJson(done));
      else context.err.write(`${describeExtract(done, isRedacted)}\n`);
    },
  );
};
