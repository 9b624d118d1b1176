/**
 * Limits of an import. Rows and files are untrusted: exceeding a limit ends in a refusal. The limits also keep the
 * memory of an import the same however many rows it has.
 */
export type ImportLimits = {
  /** Bytes of a line of a chunk. Longer lines are skipped without being held in memory. */
  lineBytes: number;
  /** Bytes that a chunk may unpack to. */
  unpackedChunkBytes: number;
  /** Top-level fields of a row. */
  rowFields: number;
  /** Bytes of the new version's database. */
  storeBytes: number;
  /**
   * Minimum ratio of the world's rows to the import's rows at which rows are added to the world's tables, instead of
   * building all tables anew.
   */
  growthShare: number;
  /** Maximum number of recorded refusals, and of their characters; further ones are only counted. */
  notedRefusals: number;
  notedChars: number;
};

const mebibyte = 1024 * 1024;

export const importLimits: ImportLimits = {
  lineBytes: 8 * mebibyte,
  unpackedChunkBytes: 1024 * mebibyte,
  rowFields: 2_000,
  storeBytes: 16 * 1024 * mebibyte,
  growthShare: 16,
  notedRefusals: 100_000,
  notedChars: 32 * mebibyte,
};
