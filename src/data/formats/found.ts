/**
 * What reading a file of rows gives: rows with their entity and their place, and faults of single rows, batch
 * by batch. What makes a file unreadable as a whole is thrown, as `invalid` with file and place.
 */
import { AppError } from '#domain/error.ts';
import type { Contract, Row } from '#language/contract.ts';

/** A row as it came, its place being the line it begins on, or its number where a format has no lines. */
export type FoundRow = { entity: string; row: Row; at: number };

/** A row that cannot be taken, whatever the world says of it. */
export type RowFault = { at: number; entity: string; field: string | null; detail: string };

export type FoundBatch = { rows: FoundRow[]; faults: RowFault[] };

/** A file or a stream of rows. Its name says its format and, where rows do not, their entity. */
export type RowSource = {
  /** As the user wrote it, or `standard input`. */
  name: string;
  /** Its bytes from the first on; called again, they come again. */
  open(): AsyncIterable<Uint8Array>;
  /** Where its bytes lie, when they are a file. */
  path?: string | undefined;
};

export type ReadOptions = {
  /** Of which entity bare rows are. */
  entity?: string | undefined;
  /** Of the world that the rows are for; rows of CSV are nothing without. */
  contract?: Contract | undefined;
  /** Columns that are no field: refused unless they are to be kept, each cell as a text. */
  otherColumns?: 'keep' | undefined;
};

/** Bounds on what is read. */
export const formatLimits = {
  /** One row, one line, one record. */
  rowBytes: 8 * 1024 * 1024,
  /** Columns of a table. */
  columns: 1_000,
  /** Rows in a batch. */
  batchRows: 500,
  /** From so many bytes on, unpacked bytes may be at most so many times the packed ones. */
  packedTimes: 500,
  unpackedBytes: 16 * 1024 * 1024,
  /** A part of a Parquet file that has to be in memory at once. */
  rowGroupBytes: 256 * 1024 * 1024,
} as const;

/** A file that cannot be read on: `contacts.csv line 7: …`. */
export const unreadable = (
  file: string,
  at: number | undefined,
  what: string,
  hint?: string,
): AppError =>
  new AppError('invalid', at === undefined ? `${file} ${what}` : `${file} line ${at}: ${what}`, {
    detail: hint === undefined ? {} : { hint },
  });

/** Puts rows into batches of a fixed size. */
export const createBatch = (): FoundBatch => ({ rows: [], faults: [] });

export const isFull = ({ rows, faults }: FoundBatch): boolean =>
  rows.length + faults.length >= formatLimits.batchRows;

export const isEmpty = ({ rows, faults }: FoundBatch): boolean => rows.length + faults.length === 0;

/** A stream of which the first piece was taken. */
export async function* startingWith<Piece>(
  first: Piece,
  rest: AsyncIterable<Piece>,
): AsyncGenerator<Piece> {
  yield first;
  yield* rest;
}
