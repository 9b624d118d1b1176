/**
 * Limits of the world language; those on the size of a tree are in `domain/limits.ts`. They bound the time and memory
 * that a client's tree can take.
 */
export const languageLimits = {
  entities: 500,
  fieldsPerEntity: 500,
  tools: 1_000,
  operations: 2_000,
  scenarios: 500,
  definitions: 2_000,
  /** Nested lists and objects, in schemas, rows and tool values. */
  depth: 64,
  /** Nested schemas, with references followed. */
  schemaNesting: 200,
  /** Subschemas that may apply to one value. */
  schemaWork: 5_000,
  /** Keywords and subschemas of a schema in all, with references not followed. */
  schemaSpan: 800,
  /** References in a chain for one value. */
  referenceChain: 16,
  /** Steps of the first look at a value, before a validator is built: a few milliseconds. */
  lookSteps: 100_000,
  /** Steps of the validation of one value, see `schema/steps.ts`: a second or less. */
  checkSteps: 10_000_000,
  /** Steps within which all problems of a value are searched, not only the first. */
  explanationSteps: 100_000,
  /** References in the schemas of a tree. */
  references: 20_000,
  relationshipsPerEntity: 100,
  uniquePerEntity: 100,
  /** Unique constraints and relationships of all entities: each is an index of the store. */
  constraints: 2_000,
  fieldsPerKey: 32,
  patternLength: 1_000,
  /**
   * Size of one pattern, and of all patterns of a tree: characters and operators, each multiplied by its repetitions.
   */
  patternSize: 3_000,
  patternSizes: 200_000,
  /** Body of a vendor's error, which every route may repeat. */
  errorBodyChars: 16 * 1024,
  /** Problems reported for one tree, and for one file of rows. */
  problems: 1_000,
  problemsPerRowFile: 50,
  /** Characters of a problem's pointer and of its message. */
  quotedChars: 4_000,
  /** Unknown keys reported for one table. */
  unknownKeys: 50,
  /** Hand-written JSON or TOML file; files of rows are bounded by the tree's limits. */
  authoredFileBytes: 2 * 1024 * 1024,
} as const;
