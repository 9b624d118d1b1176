/**
 * Types of rows read from a file: batches of rows, each with its entity and place, and batches of faults of single
 * rows. Faults that make a whole file unreadable are thrown as `invalid` with file and place.
 */
import { AppError } from '#domain/error.ts';
import type { Contract, Row } from '#language/contract.ts';

/** A row as it was read. `at` is the line on which the row begins, or the row's number in a format without lines. */
export type FoundRow = { entity: string; row: Row; at: number };

/** Fault that makes a row unreadable, whatever the world's contract. */
export type RowFault = { at: number; entity: string; field: string | null; detail: string };

export type FoundBatch = { rows: FoundRow[]; faults: RowFault[] };

/** A file or a stream of rows. The name helps to detect the format, and the entity of rows that name no entity. */
export type RowSource = {
  /** Name as the user wrote it, or `standard input`. */
  name: string;
  /** Returns the bytes of the source; each call starts at the first byte. */
  open(): AsyncIterable<Uint8Array>;
  /** Path of the file that holds the bytes; absent for a stream. */
  path?: string | undefined;
};

export type ReadOptions = {
  /** Entity of rows that name no entity. */
  entity?: string | undefined;
  /** Contract of the world that the rows are for. CSV cannot be read without a contract. */
  contract?: Contract | undefined;
  /** Treatment of columns that match no field. `keep`: their cells are kept as texts. Absent: the file is refused. */
  otherColumns?: 'keep' | undefined;
};

/** Limits that apply while a file is read. */
export const formatLimits = {
  /** Maximum size of one row, line or record, in bytes. */
  rowBytes: 8 * 1024 * 1024,
  /** Maximum number of columns of a table. */
  columns: 1_000,
  /** Maximum number of rows in a batch. */
  batchRows: 500,
  /** Maximum ratio of unpacked to packed bytes. It applies only once `unpackedBytes` bytes are unpacked. */
  packedTimes: 500,
  unpackedBytes: 16 * 1024 * 1024,
  /** Maximum size of a Parquet row group in bytes. A row group has to be in memory as a whole. */
  rowGroupBytes: 256 * 1024 * 1024,
} as const;

/** Builds the error of a file that cannot be read any further: `contacts.csv line 7: …`. */
export const unreadable = (
  file: string,
  at: number | undefined,
  what: string,
  hint?: string,
): AppError =>
  new AppError('invalid', at === undefined ? `${file} ${what}` : `${file} line ${at}: ${what}`, {
    detail: hint === undefined ? {} : { hint },
  });

/** Creates an empty batch; `isFull` limits its size. */
export const createBatch = (): FoundBatch => ({ rows: [], faults: [] });

export const isFull = ({ rows, faults }: FoundBatch): boolean =>
  rows.length + faults.length >= formatLimits.batchRows;

export const isEmpty = ({ rows, faults }: FoundBatch): boolean => rows.length + faults.length === 0;

/** Returns a stream that begins with a piece that was already read from it, followed by the rest. */
export async function* startingWith<Piece>(
  first: Piece,
  rest: AsyncIterable<Piece>,
): AsyncGenerator<Piece> {
  yield first;
  yield* rest;
}
