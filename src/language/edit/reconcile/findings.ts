/** Findings about one schema, collected from the rows that were compared with the schema. */
import type { JsonType } from '../../schema/analysis.ts';
import type { Seen } from './seen.ts';

/** Source of a row: a capture, or a file of rows in the tree. */
export type RowSource = {
  entity: string;
  /** File that contains the row. */
  file: string;
  isCaptured: boolean;
  /** Fields to which the mode `preserve` was applied before the row was captured. */
  preserved?: readonly string[];
};

/** Number of captured rows for which a finding was made, and the first of these rows. */
export type Count = { count: number; first: RowSource };

/**
 * A field that the schema lacks: number of captured values and of other values that have it, and a summary of its
 * values.
 */
export type NewField = { captured: number; others: number; seen: Seen; first: RowSource };

export type Findings = {
  /** Number of captured values that were compared with the schema, and number of other values. */
  captured: number;
  others: number;
  /** Types of all values. They determine the type of a key. */
  types: Map<JsonType, Count & { captured: number }>;
  /** Values whose type the schema does not allow. */
  widened: (Count & { seen: Seen }) | undefined;
  /** Null values, if the schema refers to or combines schemas that do not allow null. */
  nulls: Count | undefined;
  /** Values that are not in `enum`, or differ from `const`. The key is a text that is the same for equal values. */
  unlisted: Map<string, Count & { value: unknown }>;
  /** Keywords that values violate, by name. */
  broken: Map<string, Count & { value: unknown }>;
  /** Required fields that values lack, by name. */
  absent: Map<string, Count>;
  added: Map<string, NewField>;
  /** Values whose type no branch of `anyOf` or `oneOf` allows. */
  unmatched: (Count & { seen: Seen }) | undefined;
  /** Items beyond the end of a list that allows no further items. */
  extraItems: (Count & { seen: Seen }) | undefined;
};

export const createFindings = (): Findings => ({
  captured: 0,
  others: 0,
  types: new Map(),
  widened: undefined,
  nulls: undefined,
  unlisted: new Map(),
  broken: new Map(),
  absent: new Map(),
  added: new Map(),
  unmatched: undefined,
  extraItems: undefined,
});

/** Adds one to a count. */
export const counted = (known: Count | undefined, first: RowSource): Count => ({
  count: (known?.count ?? 0) + 1,
  first: known?.first ?? first,
});
