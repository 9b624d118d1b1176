/** Detects the format of a file of rows from the file's name and first bytes, and determines the entity of the rows. */
import { AppError } from '#domain/error.ts';
import { suggestName } from '#language/read/suggest.ts';
import type { ReadOptions } from './found.ts';

export const rowFormats = ['json', 'jsonl', 'csv', 'parquet'] as const;
export type RowFormat = (typeof rowFormats)[number];

const packings = /\.(gz|gzip|zst|zstd)$/i;
const endings: Readonly<Record<string, RowFormat>> = {
  json: 'json',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  csv: 'csv',
  tsv: 'csv',
  parquet: 'parquet',
};

const baseName = (file: string): string => (/[^/\\]*$/.exec(file)?.[0] ?? '').replace(packings, '');

/** Returns the format that the ending of a file's name stands for, ignoring endings of compression. */
const formatOfName = (file: string): RowFormat | undefined =>
  endings[/\.([a-z]+)$/i.exec(baseName(file))?.[1]?.toLowerCase() ?? ''];

const parquetMark = 'PAR1';

/**
 * Returns the format that the beginning of a text suggests, for names without a known ending. A single line with JSON
 * gives the same rows as JSON and as JSONL.
 */
const formatOfText = (text: string): RowFormat | undefined => {
  const begin = text.trimStart();
  if (begin.startsWith('[')) return 'json';
  if (!begin.startsWith('{')) return begin === '' ? 'jsonl' : 'csv';
  // `{"contacts": [` begins a document of rows by entity; any other object begins one row a line.
  return /^\{\s*"[^"\\]*"\s*:\s*(\[|$)/.test(begin) ? 'json' : 'jsonl';
};

/** Returns the format of a file: Parquet by its magic bytes, else by the name, else by the beginning of the text. */
export const formatOf = (file: string, first: Uint8Array): RowFormat => {
  const begin = Buffer.from(first.buffer, first.byteOffset, Math.min(first.byteLength, 4_096));
  if (begin.subarray(0, 4).toString('latin1') === parquetMark) return 'parquet';
  const named = formatOfName(file);
  if (named === 'parquet') {
    throw new AppError(
      'invalid',
      `${file} is not a Parquet file: it does not begin with ${parquetMark}`,
    );
  }
  return named ?? formatOfText(begin.toString('utf8')) ?? 'jsonl';
};

const plain = (name: string): string => name.toLowerCase().replaceAll('-', '_');

const refuseUnknown = (entity: string, what: string, known: readonly string[]): AppError => {
  const hint = suggestName(entity, known);
  return new AppError('invalid', `${what}: the world has no entity "${entity}"`, {
    detail: hint === undefined ? {} : { hint },
  });
};

/**
 * Returns the entity of rows that name no entity: the one that the user named, else the one with the name of the file,
 * else the world's only one.
 */
export const entityOf = (file: string, { entity, contract }: ReadOptions): string => {
  const known = contract?.entities.map(({ name }) => name);
  if (entity !== undefined) {
    if (known === undefined || known.includes(entity)) return entity;
    throw refuseUnknown(entity, '--entity', known);
  }
  const stem = baseName(file).replace(/\.[a-z]+$/i, '');
  const named = known?.find((name) => plain(name) === plain(stem));
  const only = known?.length === 1 ? known[0] : undefined;
  const found = named ?? only;
  if (found !== undefined) return found;
  throw new AppError(
    'invalid',
    `the rows of ${file} name no entity, and no entity has the name of the file`,
    {
      detail: {
        hint: `name the entity of the rows with --entity${known === undefined ? '' : `: ${known.slice(0, 20).join(', ')}`}`,
      },
    },
  );
};
