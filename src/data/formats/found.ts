/**
 * Types of rows read from a file: batches of rows with their entity and place, and of faults of single rows. Faults
 * that make a whole file unreadable are thrown as `invalid` with file and place.
 */
import { AppError } from '#domain/error.ts';
import type { Contract, Row } from '#language/contract.ts';

/** A row as it was read. Its place is the line it begins on, or its number in a format without lines. */
export type FoundRow = { entity: string; row: Row; at: number };

/** A row that cannot be read as a row, whatever the world's contract. */
export type RowFault = { at: number; entity: string; field: string | null; detail: string };

export type FoundBatch = { rows: FoundRow[]; faults: RowFault[] };

/** A file or a stream of rows. Its name shows its format and, for rows that name none, their entity. */
export type RowSource = {
  /** Name as the user wrote it, or `standard input`. */
  name: string;
  /** Returns its bytes from the first on; each call starts again. */
  open(): AsyncIterable<Uint8Array>;
  /** Path of its bytes, when they are a file. */
  path?: string | undefined;
};

export type ReadOptions = {
  /** Entity of rows that name none. */
  entity?: string | undefined;
  /** Contract of the world that the rows are for; CSV cannot be read without one. */
  contract?: Contract | undefined;
  /** Policy for columns that are no field: refused, unless `keep`, which keeps each cell as a text. */
  otherColumns?: 'keep' | undefined;
};

/** Limits of reading. */
export const formatLimits = {
  /** Bytes of one row, one line, one record. */
  rowBytes: 8 * 1024 * 1024,
  /** Columns of a table. */
  columns: 1_000,
  /** Rows in a batch. */
  batchRows: 500,
  /** Maximum ratio of unpacked to packed bytes, which applies once so many bytes are unpacked. */
  packedTimes: 500,
  unpackedBytes: 16 * 1024 * 1024,
  /** Bytes of a part of a Parquet file that has to be in memory at once. */
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

/** Returns a stream with a piece put back that was already taken from it. */
export async function* startingWith<Piece>(
  first: Piece,
  rest: AsyncIterable<Piece>,
): AsyncGenerator<Piece> {
  yield first;
  yield* rest;
}
