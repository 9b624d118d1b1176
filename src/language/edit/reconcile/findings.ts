/** Findings about one schema from the rows that were compared with it. */
import type { JsonType } from '../../schema/analysis.ts';
import type { Seen } from './seen.ts';

/** Source of a row: a capture, or a file of rows in the tree. */
export type RowSource = {
  entity: string;
  /** File of the row. */
  file: string;
  isCaptured: boolean;
  /** Fields that were preserved before the row was captured. */
  preserved?: readonly string[];
};

/** Number of captured rows with a finding, and the first of them. */
export type Count = { count: number; first: RowSource };

/** A field that the schema lacks: its number in captured values and in others. */
export type NewField = { captured: number; others: number; seen: Seen; first: RowSource };

export type Findings = {
  /** Numbers of values that were compared with the schema. */
  captured: number;
  others: number;
  /** Types of all values, which determine the type of a key. */
  types: Map<JsonType, Count & { captured: number }>;
  /** Values whose type the schema does not allow. */
  widened: (Count & { seen: Seen }) | undefined;
  /** Null values, if the schema refers to or combines schemas that do not allow null. */
  nulls: Count | undefined;
  /** Values that are not in `enum`, or not the `const`, by a text that equal values share. */
  unlisted: Map<string, Count & { value: unknown }>;
  /** Keywords that values violate. */
  broken: Map<string, Count & { value: unknown }>;
  /** Missing required fields. */
  absent: Map<string, Count>;
  added: Map<string, NewField>;
  /** Values whose type no branch of a choice allows. */
  unmatched: (Count & { seen: Seen }) | undefined;
  /** Items beyond the end of a closed list. */
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
