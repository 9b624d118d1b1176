/**
 * Writes rows as JSONL, JSON or CSV to standard output, to one file, or to a folder with one file for each entity. A
 * file is written under a temporary name and renamed at the end, so that readers never see an incomplete file. Writing
 * waits for a slow reader.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Column } from '#data/formats/table-columns.ts';
import { AppError } from '#domain/error.ts';
import type { Row } from '#language/contract.ts';
import { makeFoldersSync } from '#runtime/folders.ts';
import type { Output } from '../terminal/context.ts';
import { createCsvLines } from './csv-lines.ts';

export const rowFormats = ['jsonl', 'json', 'csv'] as const;
export type RowFormat = (typeof rowFormats)[number];

/** Destination that texts are written to, in order. */
export type Sink = {
  /** Resolves when the sink accepts more text. */
  write(text: string): Promise<void>;
  /** Ends the output. A file is renamed to its final name. */
  close(): Promise<void>;
  /** Removes what was written. */
  abandon(): Promise<void>;
};

/** Creates a sink for standard output. Its `abandon` cannot remove what was already written. */
export const outputSink = (out: Output): Sink => ({
  async write(text) {
    out.writeExactly(text);
    await out.drained();
  },
  close: async () => undefined,
  abandon: async () => undefined,
});

/**
 * Creates a sink for a file. Creates the file's folder, and replaces an existing file. The ending of the file's name
 * selects the compression.
 */
export const fileSink = (path: string): Sink => {
  const beside = join(dirname(path), `.svc-${randomUUID()}`);
  const top = new PassThrough();
  try {
    makeFoldersSync(dirname(path));
  } catch (cause) {
    throw new AppError('invalid', `cannot write ${path}`, { cause });
  }
  const file = createWriteStream(beside, { flags: 'wx' });
  const end = path.endsWith('.gz') ? pipeline(top, createGzip(), file) : pipeline(top, file);
  const written = end.catch((cause: unknown) => {
    rmSync(beside, { force: true });
    throw new AppError('invalid', `cannot write ${path}`, { cause });
  });
  written.catch(() => undefined); // the next write, or `close`, throws it
  return {
    async write(text) {
      if (!top.write(text)) await Promise.race([once(top, 'drain'), written]);
    },
    async close() {
      top.end();
      await written;
      renameSync(beside, path);
    },
    async abandon() {
      top.destroy();
      await written.catch(() => undefined);
    },
  };
};

export type RowWriter = {
  write(entity: string, rows: readonly Row[]): Promise<void>;
  /** Ends the text, and closes its sink. */
  close(): Promise<void>;
};

/** Number of values that the text format cannot represent exactly. */
export type Losses = { values: number };

export type TextOptions = {
  format: RowFormat;
  /** Entity of all rows. If undefined, each row is written with the name of its entity. */
  entity: string | undefined;
  /** Returns the fields of an entity, for CSV. */
  columnsOf(entity: string): readonly Column[];
  losses: Losses;
};

const linesOf = ({ entity: only }: TextOptions, entity: string, rows: readonly Row[]): string[] =>
  rows.map((row) => JSON.stringify(only === undefined ? { entity, row } : row));

const writeJsonl = (sink: Sink, options: TextOptions): RowWriter => ({
  write: (entity, rows) =>
    sink.write(
      linesOf(options, entity, rows)
        .map((line) => `${line}\n`)
        .join(''),
    ),
  close: () => sink.close(),
});

/**
 * Writes a list of rows, or an object with one list for each entity. For an object, all rows of an entity must follow
 * one another.
 */
const writeJson = (sink: Sink, { entity: only }: TextOptions): RowWriter => {
  const begun = new Set<string>();
  let current: string | undefined;
  const head = (entity: string): string => {
    if (entity === current) return ',\n';
    if (begun.has(entity)) {
      throw new AppError(
        'invalid',
        'rows of several entities are mixed, which cannot be written as JSON',
        {
          detail: { hint: 'write them as JSONL, or into a folder: --out <folder>/' },
        },
      );
    }
    const before = current === undefined ? '' : '\n]';
    const comma = begun.size === 0 ? '' : ',\n';
    current = entity;
    begun.add(entity);
    return only === undefined
      ? `${before}${begun.size === 1 ? '{' : comma}${JSON.stringify(entity)}: [\n`
      : '[\n';
  };
  return {
    async write(entity, rows) {
      if (rows.length === 0) return;
      const texts = rows.map((row) => JSON.stringify(row));
      await sink.write(`${head(entity)}${texts.join(',\n')}`);
    },
    async close() {
      const empty = only === undefined ? '{}\n' : '[]\n';
      await sink.write(current === undefined ? empty : only === undefined ? '\n]}\n' : '\n]\n');
      await sink.close();
    },
  };
};

const writeCsv = (sink: Sink, { entity = '', columnsOf, losses }: TextOptions): RowWriter => {
  const { head, line } = createCsvLines(columnsOf(entity), losses);
  let isBegun = false;
  const begin = (): string => {
    const text = isBegun ? '' : head;
    isBegun = true;
    return text;
  };
  return {
    write: (_entity, rows) => sink.write(`${begin()}${rows.map(line).join('')}`),
    async close() {
      await sink.write(begin());
      await sink.close();
    },
  };
};

const writers = { jsonl: writeJsonl, json: writeJson, csv: writeCsv };

/** Creates a writer of rows to one sink. */
export const writeText = (sink: Sink, options: TextOptions): RowWriter =>
  writers[options.format](sink, options);
