/**
 * Limits of the world language, which bound the time and memory that a client's tree can take. Limits on the size of a
 * tree are in `domain/limits.ts`.
 */
export const languageLimits = {
  entities: 500,
  fieldsPerEntity: 500,
  tools: 1_000,
  operations: 2_000,
  scenarios: 500,
  definitions: 2_000,
  /** Maximum nesting depth of lists and objects, in schemas, rows and tool values. */
  depth: 64,
  /** Maximum nesting depth of schemas, including the schemas to which they refer. */
  schemaNesting: 200,
  /** Maximum number of subschemas that may apply to one value. */
  schemaWork: 5_000,
  /** Maximum number of keywords and subschemas of a schema, without the schemas to which it refers. */
  schemaSpan: 800,
  /** Maximum length of a chain of references for one value. */
  referenceChain: 16,
  /** Maximum number of steps of the fast pre-check of a value, before a validator is built: a few milliseconds. */
  lookSteps: 100_000,
  /** Maximum number of steps of the validation of one value, see `schema/steps.ts`: a second or less. */
  checkSteps: 10_000_000,
  /** Maximum number of steps of the search for all problems of a value, and not only the first. */
  explanationSteps: 100_000,
  /** Maximum number of references in the schemas of a tree. */
  references: 20_000,
  relationshipsPerEntity: 100,
  uniquePerEntity: 100,
  /** Maximum number of unique constraints and relationships of all entities, because each is an index of the store. */
  constraints: 2_000,
  fieldsPerKey: 32,
  patternLength: 1_000,
  /**
   * Maximum size of one pattern, and of all patterns of a tree. The size is the number of characters and operators,
   * each multiplied by its repetitions.
   */
  patternSize: 3_000,
  patternSizes: 200_000,
  /** Maximum length of the body of a vendor's error, in characters; every route may repeat it. */
  errorBodyChars: 16 * 1024,
  /** Maximum number of problems reported for one tree, and for one file of rows. */
  problems: 1_000,
  problemsPerRowFile: 50,
  /** Maximum length of a problem's pointer and of its message, in characters. */
  quotedChars: 4_000,
  /** Maximum number of unknown keys reported for one table. */
  unknownKeys: 50,
  /** Maximum size of a hand-written JSON or TOML file, in bytes; files of rows have the limits of the tree instead. */
  authoredFileBytes: 2 * 1024 * 1024,
} as const;
