/**
 * Limits of an import. Rows and files are untrusted: if a limit is exceeded, the import is refused. The limits also
 * bound the memory of an import, however many rows it has.
 */
export type ImportLimits = {
  /** Maximum length of a line of a chunk, in bytes. Longer lines are skipped without being held in memory. */
  lineBytes: number;
  /** Maximum size of an unpacked chunk, in bytes. */
  unpackedChunkBytes: number;
  /** Maximum number of top-level fields of a row. */
  rowFields: number;
  /** Maximum size of the new version's database, in bytes. */
  storeBytes: number;
  /**
   * Minimum ratio of the world's rows to the import's rows at which the import adds its rows to the world's tables,
   * instead of building all tables anew.
   */
  growthShare: number;
  /** Maximum number of recorded refusals, and of their characters; further refusals are only counted. */
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
