/**
 * Reads Parquet, one row group after another. The end of a file is read first, so a stream or a packed file is written
 * to a temporary file beforehand.
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
import type { Contract } from '#language/contract.ts';
import {
  createBatch,
  type FoundBatch,
  formatLimits,
  isEmpty,
  isFull,
  unreadable,
} from './found.ts';
import { unpackLz4, unpackLz4Raw } from './lz4.ts';
import { createRowReader, parsers, physicalMetadata } from './parquet-values.ts';
import { readColumns, type TableOptions } from './table-columns.ts';

type ParquetOptions = Omit<TableOptions, 'contract'> & { contract: Contract | undefined };

const boundedLength = (length: number): number => Math.min(length, formatLimits.rowGroupBytes);

const bounded = (length: number): { maxOutputLength: number } => ({
  maxOutputLength: Math.max(1, boundedLength(length)),
});

/** Decompressors for the codecs that the Parquet library lacks; Snappy is built into the library. */
const compressors: Compressors = {
  GZIP: (bytes, length) => gunzipSync(bytes, bounded(length)),
  ZSTD: (bytes, length) => zstdDecompressSync(bytes, bounded(length)),
  BROTLI: (bytes, length) => brotliDecompressSync(bytes, bounded(length)),
  LZ4: (bytes, length) => unpackLz4(bytes, boundedLength(length)),
  LZ4_RAW: (bytes, length) => unpackLz4Raw(bytes, boundedLength(length)),
};

const asUnreadable = (name: string, error: unknown): unknown => {
  if (error instanceof AppError) return error;
  const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
  return unreadable(name, undefined, `cannot be read as Parquet: ${why}`);
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
    'write the file with smaller row groups',
  );
};

async function* readGroups(
  name: string,
  file: AsyncBuffer,
  { contract, entity, otherColumns }: ParquetOptions,
): AsyncGenerator<FoundBatch> {
  const described = await parquetMetadataAsync(file);
  checkGroups(name, described);
  const metadata = physicalMetadata(described);
  if (typeof metadata === 'string') throw unreadable(name, undefined, metadata);
  const schema = parquetSchema(described);
  const names = schema.children.map(({ element }) => element.name);
  const readRow = createRowReader(schema);
  if (contract !== undefined) readColumns(name, names, { contract, entity, otherColumns });
  let at = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const part = { file, metadata, compressors, parsers, rowStart: at, rowEnd: at + rows };
    let batch = createBatch();
    for (const values of await parquetReadObjects(part)) {
      at += 1;
      const read = readRow(values);
      if ('row' in read) batch.rows.push({ at, entity, row: read.row });
      else batch.faults.push({ at, entity, ...read });
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

/**
 * Reads the rows of a Parquet file; the place of a row is its number, from 1. `path` is set if the source is an
 * unpacked file.
 */
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
