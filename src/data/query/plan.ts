/** Input and output of a query. All of it is plain data, since the query is answered in another process. */
import type { Row } from '#language/contract.ts';
import type { IndexFile } from './store-file.ts';

/** Source of a query's rows: an entity of a world's version. */
export type Target = {
  /** Path of the store file, and the digest that identifies it. */
  file: string;
  snapshot: string;
  /** Identifier of the contract with which the file was made. */
  contract: string;
  /** Number of the entity's rows in the version. */
  rowCount: number;
  entity: string;
  /** Fields, or paths to them, each with the required value or a list of values. */
  where: Row;
  /** Index files for the mapped fields for which the store has no index. */
  indexes: readonly IndexFile[];
};

/** A field of the first world, and the corresponding field of a linked world. */
export type FieldPair = { field: string; targetField: string };

/** An entity of a linked world, with the pairs of corresponding fields. */
export type LinkTarget = Target & { pairs: readonly FieldPair[] };

export type QueryPlan = {
  root: Target;
  links: readonly LinkTarget[];
  limit: number;
  offset: number;
  /** Position after which the rows of the first world begin, if `offset` continues an earlier page. */
  after?: number | undefined;
  /** True if values of `where` are plaintexts, which each world's policy redacts before the search. */
  resolve: boolean;
  compare: boolean;
  /** Limit of the answer's rows in bytes. */
  mostBytes: number;
};

export type FoundRows = {
  kind: 'found';
  /** JSON list of the rows as they were stored. */
  rowsJson: string;
  total: number;
  isLowerBound: boolean;
  nextOffset: number | null;
  nextAfter: number | null;
};

/** Reason why a linked world could not be queried. */
export type NotFound = { kind: 'refused'; detail: string };

/** A pair of fields whose values differ in two matched rows. */
export type Difference = { key: unknown; here: unknown; there: unknown };

export type FieldParity = FieldPair & {
  /** Numbers of matched rows by result; null if redaction leaves nothing to compare. */
  equal: number | null;
  onlyHere: number | null;
  onlyThere: number | null;
  differing: number | null;
  /** The first few differences. */
  examples: Difference[];
  /** Reason why nothing could be compared. */
  reason?: string;
};

export type Parity = {
  /** Fields by which rows are matched; null when none can be compared. */
  key: FieldPair | null;
  rows: { matched: number; onlyHere: number; onlyThere: number };
  fields: FieldParity[];
};

export type QueryOutcome =
  | {
      kind: 'answered';
      root: FoundRows;
      /** Results in the order of the plan's links. */
      links: (FoundRows | NotFound)[];
      /**
       * Comparisons in the order of the plan's links; null for a link that could not be queried, and if the plan does
       * not compare.
       */
      parities: (Parity | null)[];
    }
  /** The query of the first world is invalid: the fault, and its field in `where`. */
  | { kind: 'refused'; detail: string; at: 'entity' | 'where'; field?: string | undefined };
