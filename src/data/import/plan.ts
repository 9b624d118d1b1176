/**
 * Input, progress and outcome of an import. An import works on files alone: rows in gzipped JSONL and the rows of a
 * version, as its unpacked snapshot, become the snapshot of the next version. The caller knows the owner of the rows
 * and stores the snapshot.
 */
import type { Digest } from '#domain/world.ts';
import type { Contract } from '#language/contract.ts';
import type { RedactionMode } from '#language/redaction-modes.ts';

/**
 * Mode of an import. `append`: all rows are new; a row whose key exists is refused. `merge`: a row whose key exists
 * replaces top-level fields of the existing row; other rows are new. `replace`: the rows replace all rows of their
 * entities.
 */
export type ImportMode = 'append' | 'merge' | 'replace';

/** A file of gzipped JSONL, one row a line. */
export type ImportChunk = {
  /** Order of the chunk; rows are read by ordinal, then in the order of their lines. */
  ordinal: number;
  file: string;
  /** Entity of all its lines. If neither the chunk nor the plan has one, lines are `{"entity": …, "row": …}`. */
  entity?: string | undefined;
  /** Declared number of rows. If the chunk has another number of rows, it is refused. */
  rows: number;
};

/** Version that the rows are added to. */
export type ImportBase = {
  /** Snapshot of the version as an unpacked SQLite file, which is only read. */
  file: string;
  /** Number of rows by entity that came from the world's tree. They are the first rows of each entity. */
  treeRows: Readonly<Record<string, number>>;
};

export type ImportPlan = {
  contract: Contract;
  /** Null for a world without rows. */
  base: ImportBase | null;
  chunks: readonly ImportChunk[];
  /** Entity of chunks that name none. */
  entity?: string | undefined;
  /**
   * Entities that rows may belong to; absent: all. With `replace`, the rows of listed entities are removed in any
   * case. Without a list, only those entities are replaced that a chunk names or that an accepted row belongs to.
   */
  entities?: readonly string[] | undefined;
  mode: ImportMode;
  /** Use of the world's `[redact]` policy on rows, before any other check. */
  redact: RedactionMode;
  /**
   * True if refusals must not quote values of rows, because the rows were redacted before the import. If `redact` is
   * off, lines may then record rows that were refused earlier, see `noted-faults.ts`.
   */
  withholds?: boolean | undefined;
  /** True if one refused row refuses the whole import; otherwise refused rows are left out. */
  atomic: boolean;
  /** True to do everything but write the snapshot. */
  dryRun: boolean;
  /** Folder for all files that this import writes; its contents are removed first. */
  folder: string;
};

export type ImportProgress = {
  phase: 'validating' | 'applying';
  /** Number of chunks whose rows were all checked. */
  validatedChunks: number;
  /** Number of rows in the database; rows with dangling references may yet be removed. */
  appliedRows: number;
};

/** A refused row or chunk. Unknown facts are null. */
export type ImportRefusal = {
  /** Ordinal of the chunk; null for rows of the world that the import would leave with broken references. */
  chunk: number | null;
  /** Line of the chunk, from 0; null for the chunk as a whole. */
  index: number | null;
  entity: string | null;
  /** Fields of the row's primary key. */
  primaryKey: Record<string, unknown> | null;
  /** Top-level field at fault. */
  field: string | null;
  /** JSON pointer to the value at fault, into the row. */
  pointer: string | null;
  detail: string;
};

/** A snapshot as a file, ready to be stored. */
export type ImportedSnapshot = {
  /** Path in the plan's folder; compressed with zstd. */
  file: string;
  bytes: number;
  /** Digest of the file's bytes. */
  digest: Digest;
  /** Digest of the rows, as every store that opens the snapshot computes it. */
  stateDigest: Digest;
};

/** Recorded refusals: JSONL of `ImportRefusal`, in the plan's folder. */
export type ImportReport = {
  /** Number of refused rows, including those beyond the limit of recorded refusals. */
  refused: number;
  /** Path of the file; null when nothing was refused. */
  refusals: string | null;
};

export type ImportOutcome =
  | ({
      kind: 'applied';
      /** Null for a dry run. */
      snapshot: ImportedSnapshot | null;
      /** Number of rows by entity in the whole version. */
      entityCounts: Record<string, number>;
      /** Number of accepted rows of the import, by entity. */
      landed: Record<string, number>;
      /** Rows of the tree in the new version, counted like `ImportBase.treeRows`. */
      treeRows: Record<string, number>;
      /** Entities whose rows were replaced, including the rows of the tree; later pushes have to leave these out. */
      replaced: string[];
    } & ImportReport)
  | ({ kind: 'refused' } & ImportReport);
