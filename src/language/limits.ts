/**
 * Limits of the world language beyond those of a tree's size, which `domain/limits.ts` holds. They
 * keep the time and memory that a stranger's tree can take within bounds.
 */
export const languageLimits = {
  entities: 500,
  fieldsPerEntity: 500,
  tools: 1_000,
  operations: 2_000,
  scenarios: 500,
  definitions: 2_000,
  /** Lists and objects inside one another, in schemas, rows and tool values alike. */
  depth: 64,
  /** Schemas inside one another, references followed. */
  schemaNesting: 200,
  /** Subschemas that may apply to one and the same value. */
  schemaWork: 5_000,
  /** Keywords and subschemas beside and inside one another, references not followed. */
  schemaSpan: 800,
  /** References that lead to one another for one and the same value. */
  referenceChain: 16,
  /** Steps of a first look at a value, before any validator is made: a few milliseconds. */
  lookSteps: 100_000,
  /** Steps of a check of one value, see `schema/steps.ts`: a second or less. */
  checkSteps: 10_000_000,
  /** Steps in which all that is wrong with a value is to be found, not only the first of it. */
  explanationSteps: 100_000,
  /** References in the schemas of a tree. */
  references: 20_000,
  relationshipsPerEntity: 100,
  uniquePerEntity: 100,
  /** Unique lists and relationships of all entities: each is an index of the store. */
  constraints: 2_000,
  fieldsPerKey: 32,
  patternLength: 1_000,
  /** Characters and operators of a pattern, each as often as it is repeated, and of all of a tree. */
  patternSize: 3_000,
  patternSizes: 200_000,
  /** The body of an error as a vendor answers it, which every route may repeat. */
  errorBodyChars: 16 * 1024,
  /** Problems reported of one tree, and of one file of rows. */
  problems: 1_000,
  problemsPerRowFile: 50,
  /** Characters of a pointer and of a message that a problem keeps. */
  quotedChars: 4_000,
  /** Keys refused of one table. */
  unknownKeys: 50,
  /** A hand-written JSON or TOML file; files of rows are bounded by the tree's limits. */
  authoredFileBytes: 2 * 1024 * 1024,
} as const;
