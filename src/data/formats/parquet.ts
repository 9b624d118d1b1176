/**
 * Parquet, one row group after another. Its end is read first, so what comes as a stream or packed is put into a
 * file beforehand. Whole numbers of 64 bits have to be ones that JSON keeps; dates and times become texts.
 */
import { createWriteStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { AppError } from '#domain/error.ts';
import type { Contract, Row } from '#language/contract.ts';
import {
  createBatch,
  type FoundBatch,
  formatLimits,
  isEmpty,
  isFull,
  unreadable,
} from './found.ts';
import { readColumns, type TableOptions } from './table-columns.ts';

type ParquetOptions = Omit<TableOptions, 'contract'> & { contract: Contract | undefined };

const bounded = (length: number): { maxOutputLength: number } => ({
  maxOutputLength: Math.max(1, Math.min(length, formatLimits.rowGroupBytes)),
});

/** Beside Snappy, which the reader has itself. */
const compressors: Compressors = {
  GZIP: (bytes, length) => gunzipSync(bytes, bounded(length)),
  ZSTD: (bytes, length) => zstdDecompressSync(bytes, bounded(length)),
  BROTLI: (bytes, length) => brotliDecompressSync(bytes, bounded(length)),
};

const plainNumber = (value: bigint): unknown => {
  const number = Number(value);
  // Beyond what is kept it stays what no schema allows but one of texts.
  return Number.isSafeInteger(number) ? number : value.toString();
};

/** A value as JSON has it; undefined for a null, and for what is no number, which stand for a field that is not there. */
const asJson = (value: unknown): unknown => {
  if (value === null || value === undefined || Number.isNaN(value)) return undefined;
  if (value === Infinity || value === -Infinity) return String(value);
  if (typeof value === 'bigint') return plainNumber(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map((item) => asJson(item) ?? null);
  if (typeof value === 'object') return rowOf(value as Record<string, unknown>, Object.keys(value));
  return value;
};

const rowOf = (values: Record<string, unknown>, names: readonly string[]): Row =>
  Object.fromEntries(
    names.map((name) => [name, asJson(values[name])]).filter(([, value]) => value !== undefined),
  );

/** A date has no time, which the reader gives it. */
const parsers = {
  dateFromDays: (days: number): string => new Date(days * 86_400_000).toISOString().slice(0, 10),
};

const asUnreadable = (name: string, error: unknown): unknown => {
  if (error instanceof AppError) return error;
  const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
  return unreadable(name, undefined, `is no Parquet that can be read: ${why}`);
};

const checkGroups = (name: string, { row_groups: groups }: FileMetaData): void => {
  const large = groups.findIndex(
    ({ total_byte_size: bytes, num_rows: rows }) =>
      bytes > formatLimits.rowGroupBytes || rows > 50_000_000n,
  );
  if (large === -1) return;
  const most = formatLimits.rowGroupBytes / 1024 / 1024;
  throw unreadable(
    name,
    undefined,
    `has row groups of over ${most} MiB (group ${large + 1})`,
    'write it with smaller row groups',
  );
};

async function* readGroups(
  name: string,
  file: AsyncBuffer,
  { contract, entity, otherColumns }: ParquetOptions,
): AsyncGenerator<FoundBatch> {
  const metadata = await parquetMetadataAsync(file);
  checkGroups(name, metadata);
  const names = parquetSchema(metadata).children.map(({ element }) => element.name);
  if (contract !== undefined) readColumns(name, names, { contract, entity, otherColumns });
  let at = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const read = { file, metadata, compressors, parsers, rowStart: at, rowEnd: at + rows };
    let batch = createBatch();
    for (const values of await parquetReadObjects(read)) {
      at += 1;
      batch.rows.push({ at, entity, row: rowOf(values, names) });
      if (!isFull(batch)) continue;
      yield batch;
      batch = createBatch();
    }
    if (!isEmpty(batch)) yield batch;
  }
}

async function* readFile(
  name: string,
  path: string,
  options: ParquetOptions,
): AsyncGenerator<FoundBatch> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const file: AsyncBuffer = {
      byteLength: size,
      async slice(start, end = size) {
        const length = Math.max(0, Math.min(end, size) - start);
        const part = new Uint8Array(length);
        await handle.read(part, 0, length, start);
        return part.buffer;
      },
    };
    yield* readGroups(name, file, options);
  } catch (error) {
    throw asUnreadable(name, error);
  } finally {
    await handle.close();
  }
}

/** The rows of a Parquet file; places are numbers of rows, from 1. `path` is where it lies by itself, not packed. */
export async function* readParquet(
  { name, path }: { name: string; path: string | undefined },
  bytes: AsyncIterable<Uint8Array>,
  options: ParquetOptions,
): AsyncGenerator<FoundBatch> {
  if (path !== undefined) {
    yield* readFile(name, path, options);
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'svc-rows-'));
  try {
    const copy = join(folder, 'rows.parquet');
    await pipeline(Readable.from(bytes, { objectMode: false }), createWriteStream(copy));
    yield* readFile(name, copy, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
