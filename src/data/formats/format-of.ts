/** Which format a file of rows has, by its name and its first bytes, and of which entity it then is. */
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

/** The format that a file's name tells, under any compression. */
const formatOfName = (file: string): RowFormat | undefined =>
  endings[/\.([a-z]+)$/i.exec(baseName(file))?.[1]?.toLowerCase() ?? ''];

const parquetMark = 'PAR1';

/** What bytes without a telling name begin like. JSON of one line is the same as JSONL of one. */
const formatOfText = (text: string): RowFormat | undefined => {
  const begin = text.trimStart();
  if (begin.startsWith('[')) return 'json';
  if (!begin.startsWith('{')) return begin === '' ? 'jsonl' : 'csv';
  // `{"contacts": [` is a document of rows by entity; anything else that begins so is a row a line.
  return /^\{\s*"[^"\\]*"\s*:\s*(\[|$)/.test(begin) ? 'json' : 'jsonl';
};

/** The format of a file: Parquet by its mark, else by the name, else by how the text begins. */
export const formatOf = (file: string, first: Uint8Array): RowFormat => {
  const begin = Buffer.from(first.buffer, first.byteOffset, Math.min(first.byteLength, 4_096));
  if (begin.subarray(0, 4).toString('latin1') === parquetMark) return 'parquet';
  const named = formatOfName(file);
  if (named === 'parquet') {
    throw new AppError(
      'invalid',
      `${file} is no Parquet file: it does not begin with ${parquetMark}`,
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

/** The entity of a file's bare rows: the one that was named, that of the file's name, or the only one. */
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
  throw new AppError('invalid', `${file} holds bare rows, and its name is that of no entity`, {
    detail: {
      hint: `name their entity with --entity${known === undefined ? '' : `: ${known.slice(0, 20).join(', ')}`}`,
    },
  });
};
