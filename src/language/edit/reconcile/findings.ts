/** What is found out about one schema while rows are held against it. */
import type { JsonType } from '../../schema/analysis.ts';
import type { Seen } from './seen.ts';

/** A row, and whether it was captured or stands in the tree. */
export type RowSource = {
  entity: string;
  /** File that it comes from. */
  file: string;
  isCaptured: boolean;
  /** Fields that were preserved before the row was captured. */
  preserved?: readonly string[];
};

/** How often something was found in captured rows, and the first of them. */
export type Count = { count: number; first: RowSource };

/** A field that the schema does not have, in captured values and in others. */
export type NewField = { captured: number; others: number; seen: Seen; first: RowSource };

export type Findings = {
  /** Values that the schema was held against. */
  captured: number;
  others: number;
  /** Types of all values, to tell what a key may be. */
  types: Map<JsonType, Count & { captured: number }>;
  /** Values of types that the schema does not have. */
  widened: (Count & { seen: Seen }) | undefined;
  /** null where the schema refers to a shape, or is composed of some, that cannot be null. */
  nulls: Count | undefined;
  /** Values that are not in `enum`, or not the `const`, by a text that equal values share. */
  unlisted: Map<string, Count & { value: unknown }>;
  /** Keywords that were broken. */
  broken: Map<string, Count & { value: unknown }>;
  /** Required fields that are not there. */
  absent: Map<string, Count>;
  added: Map<string, NewField>;
  /** Values of types that no branch of a choice has. */
  unmatched: (Count & { seen: Seen }) | undefined;
  /** Items behind those that a closed list may have. */
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

/** One more of what may have been found before. */
export const counted = (known: Count | undefined, first: RowSource): Count => ({
  count: (known?.count ?? 0) + 1,
  first: known?.first ?? first,
});
