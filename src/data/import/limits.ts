/**
 * What an import may take. Rows and files are strangers': each bound ends what passes it in a refusal, and
 * keeps the memory of an import the same however many rows it has.
 */
export type ImportLimits = {
  /** A line of a chunk. Longer ones are skipped without being held. */
  lineBytes: number;
  /** What a chunk may be unpacked to. */
  unpackedChunkBytes: number;
  /** Top-level fields of a row. */
  rowFields: number;
  /** The database of the version to come. */
  storeBytes: number;
  /** How many times as many rows as it brings a world has at least whose tables are added to, instead of made anew. */
  growthShare: number;
  /** Refusals that are noted, and the characters of them; all are counted. */
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
