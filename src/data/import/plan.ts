/**
 * What an import is told, what it says on its way, and how it ends. An import works on files alone: rows
 * in gzipped JSONL and the rows of a version, as its unpacked snapshot, become the snapshot of the next
 * version. Who the rows are from, and what becomes of the snapshot, is for others to know.
 */
import type { Digest } from '#domain/world.ts';
import type { Contract } from '#language/contract.ts';
import type { RedactionMode } from '#language/redaction-modes.ts';

/**
 * `append`: rows are new, and a key that is taken is a refusal. `merge`: a row whose key is there gives its top-level fields
 * to the row that has it, others are new. `replace`: the rows take the place of all rows of their entities.
 */
export type ImportMode = 'append' | 'merge' | 'replace';

/** A file of gzipped JSONL, one row a line. */
export type ImportChunk = {
  /** Chunks are read by ordinal; rows come in the order of their lines. */
  ordinal: number;
  file: string;
  /** Of which entity all its lines are rows. Without one, here and in the plan, lines are `{"entity": …, "row": …}`. */
  entity?: string | undefined;
  /** How many rows it is said to hold; another number is a refusal. */
  rows: number;
};

/** The version that the rows are for. */
export type ImportBase = {
  /** Its snapshot as an unpacked SQLite file, which is only read. */
  file: string;
  /** How many rows of each entity, the first ones, came from the world's tree. */
  treeRows: Readonly<Record<string, number>>;
};

export type ImportPlan = {
  contract: Contract;
  /** Null for a world without rows. */
  base: ImportBase | null;
  chunks: readonly ImportChunk[];
  /** The entity of chunks that name none. */
  entity?: string | undefined;
  /**
   * The entities that rows may be of; all of them when there is no list. With `replace` their rows go in any case; without
   * a list only those go whose entity a chunk names, or a row that fits it.
   */
  entities?: readonly string[] | undefined;
  mode: ImportMode;
  /** What becomes of rows by the world's `[redact]` before anything else looks at them. */
  redact: RedactionMode;
  /**
   * Refusals quote nothing of rows, as under redaction: for rows that were redacted before. Without redaction here, lines
   * may say what was wrong with rows that were not stored, see `noted-faults.ts`.
   */
  withholds?: boolean | undefined;
  /** One refused row refuses them all; else those that are refused are left out. */
  atomic: boolean;
  /** Everything is done but the snapshot. */
  dryRun: boolean;
  /** A folder of its own, for all that it writes; what lies there is removed first. */
  folder: string;
};

export type ImportProgress = {
  phase: 'validating' | 'applying';
  /** Chunks of which every row was looked at. */
  validatedChunks: number;
  /** Rows that are in the database; those that others refer to in vain may yet go. */
  appliedRows: number;
};

/** A row, or a chunk, that is not taken. What is not known of it is null. */
export type ImportRefusal = {
  /** Ordinal of the chunk; null for rows of the world that the import would leave behind broken. */
  chunk: number | null;
  /** Line of the chunk, from 0; null for the chunk as a whole. */
  index: number | null;
  entity: string | null;
  /** The fields of the row's primary key. */
  primaryKey: Record<string, unknown> | null;
  /** The top-level field at fault. */
  field: string | null;
  /** JSON pointer to the value at fault, into the row. */
  pointer: string | null;
  detail: string;
};

/** A snapshot as a file, ready to be stored. */
export type ImportedSnapshot = {
  /** In the plan's folder, compressed with zstd. */
  file: string;
  bytes: number;
  /** Of the file's bytes. */
  digest: Digest;
  /** Of the rows, as every store that opens the snapshot has it. */
  stateDigest: Digest;
};

/** The refusals that were noted: JSONL of `ImportRefusal`, in the plan's folder. */
export type ImportReport = {
  /** How many rows were refused, those included that are too many for the file. */
  refused: number;
  /** Null when nothing was refused. */
  refusals: string | null;
};

export type ImportOutcome =
  | ({
      kind: 'applied';
      /** Null for a dry run. */
      snapshot: ImportedSnapshot | null;
      /** Rows of each entity in the whole version. */
      entityCounts: Record<string, number>;
      /** Rows of the import that landed, by entity. */
      landed: Record<string, number>;
      /** As `ImportBase.treeRows`, for the version to come. */
      treeRows: Record<string, number>;
      /** Entities whose rows were replaced, those of the tree too, which a push is to leave out from now on. */
      replaced: string[];
    } & ImportReport)
  | ({ kind: 'refused' } & ImportReport);
