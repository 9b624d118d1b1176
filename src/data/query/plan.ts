/** What a query is and what comes of it. All plain data: it is asked in one process and answered in another. */
import type { Row } from '#language/contract.ts';
import type { IndexFile } from './store-file.ts';

/** Where a query looks: an entity of a world's version. */
export type Target = {
  /** Path of the store file, and the digest that tells it from others. */
  file: string;
  snapshot: string;
  /** Names the contract that the file was made by. */
  contract: string;
  /** How many rows the version has of the entity. */
  rowCount: number;
  entity: string;
  /** Fields, or paths to them, each with the value that it must have or a list of them. */
  where: Row;
  /** Indexes of mapped fields that the store has none for. */
  indexes: readonly IndexFile[];
};

/** A field of the first world and the field of a linked one that stands for it. */
export type FieldPair = { field: string; targetField: string };

/** An entity of a linked world, with the fields that are the same. */
export type LinkTarget = Target & { pairs: readonly FieldPair[] };

export type QueryPlan = {
  root: Target;
  links: readonly LinkTarget[];
  limit: number;
  offset: number;
  /** The position that the rows of the first world come after, where `offset` is that of a page before. */
  after?: number | undefined;
  /** Values of `where` are plaintexts, to be mapped by the policy of each world. */
  resolve: boolean;
  compare: boolean;
  /** Bytes of rows that the answer may have. */
  mostBytes: number;
};

export type FoundRows = {
  kind: 'found';
  /** A JSON list of the rows as they were stored. */
  rowsJson: string;
  total: number;
  isLowerBound: boolean;
  nextOffset: number | null;
  nextAfter: number | null;
};

/** Why a linked world could not be asked. */
export type NotFound = { kind: 'refused'; detail: string };

/** A value of a pair that the two rows do not share. */
export type Difference = { key: unknown; here: unknown; there: unknown };

export type FieldParity = FieldPair & {
  /** Pairs of rows, or null where redaction leaves nothing to compare. */
  equal: number | null;
  onlyHere: number | null;
  onlyThere: number | null;
  differing: number | null;
  /** Of what is not equal, the first few. */
  examples: Difference[];
  /** Why nothing could be compared. */
  reason?: string;
};

export type Parity = {
  /** The fields by which rows belong together; null when none can be compared. */
  key: FieldPair | null;
  rows: { matched: number; onlyHere: number; onlyThere: number };
  fields: FieldParity[];
};

export type QueryOutcome =
  | {
      kind: 'answered';
      root: FoundRows;
      /** In the order of the plan's links. */
      links: (FoundRows | NotFound)[];
      /** For each link that could be asked, if the plan compares; null for others. */
      parities: (Parity | null)[];
    }
  /** The query of the first world is none: what is wrong with it, and with which field of `where`. */
  | { kind: 'refused'; detail: string; at: 'entity' | 'where'; field?: string | undefined };
