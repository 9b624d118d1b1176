/**
 * Checks of a grader of the kind `assertions`: conditions on the final state of a session, on its request ledger or on
 * the agent's answer. Bundled, stored and inline tasks all have them in this form.
 */

/** Conditions by field, or path to one, in the form that `comparison.ts` reads. */
export type Conditions = { [field: string]: unknown };

/** Number of rows that a check requires: an exact number, or a minimum and a maximum. */
export type CheckCount = number | { min?: number; max?: number };

/** Rows that a declared relationship connects to the row of a check, in either direction. */
export type RelatedRows = {
  entity: string;
  where: Conditions;
  /** Fields of the relationship, if the two entities have several. */
  by?: string[];
};

/** Quantifiers over related rows. */
export const relatedKinds = ['any', 'all', 'none'] as const;
export type RelatedKind = (typeof relatedKinds)[number];

/** Members that every check may have. */
type Judged = {
  name: string;
  /** Weight of the check in the score; absent: 1. */
  weight?: number;
  /**
   * Names of other checks of the grader: rows that this check finds must come before, or after, the rows that the
   * other finds.
   */
  before?: string;
  after?: string;
};

/** Check for rows of an entity, or of the ledger, that meet all conditions, and for their number. */
export type RowsCheck = Judged & {
  entity: string;
  /** Condition on each field, in the form that `comparison.ts` reads. */
  where: Conditions;
  /** Required number of rows; null: at least one. */
  count: CheckCount | null;
  /** Top-level fields that differ from the row's initial state, or equal it. */
  changed?: string[];
  unchanged?: string[];
  /** Amount by which each top-level field exceeds its initial value. */
  increased_by?: Record<string, number>;
} & { [Kind in RelatedKind]?: RelatedRows };

/** Check on the last answer that the agent gave by a call of the kind `answer`. */
export type AnswerCheck = Judged & {
  kind: 'answer';
  /** Expected answer as JSON. With `as: "set"` it is a list, whose order and repeats do not matter. */
  equals: unknown;
  as?: 'set';
  /** Tolerance for a number. */
  tolerance?: number;
};

export type Check = RowsCheck | AnswerCheck;

/** A check as tasks outside trees have it: names and counts are optional. */
export type GivenCheck =
  | (Omit<RowsCheck, 'name' | 'count'> & { name?: string; count?: CheckCount })
  | (Omit<AnswerCheck, 'name'> & { name?: string });

export const isAnswerCheck = <Given extends GivenCheck | Check>(
  check: Given,
): check is Extract<Given, { kind: 'answer' }> => 'kind' in check;

const longestName = 200;

const show = (value: unknown): string => JSON.stringify(value) ?? 'null';

const nameOf = (check: GivenCheck): string => {
  if (check.name !== undefined) return check.name;
  if (isAnswerCheck(check)) return `the answer is ${show(check.equals)}`;
  const { entity, where, count } = check;
  const conditions = Object.entries(where).map(([field, wanted]) => `${field} ${show(wanted)}`);
  const wanted = conditions.length === 0 ? entity : `${entity} with ${conditions.join(', ')}`;
  return count === 0 ? `no ${wanted}` : wanted;
};

/**
 * Returns the names of checks. A check without a name is named after its content. If a name occurs before, the later
 * check's number is appended, so that names are unique.
 */
export const namesOfChecks = (checks: readonly GivenCheck[]): string[] => {
  const seen = new Set<string>();
  return checks.map((check, index) => {
    const name = nameOf(check);
    const short = name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name;
    const own = seen.has(short) ? `${short} (check ${index + 1})` : short;
    seen.add(own);
    return own;
  });
};

/** Returns the checks with names and defaults filled in. */
export const wholeChecks = (checks: readonly GivenCheck[]): Check[] => {
  const names = namesOfChecks(checks);
  return checks.map((check, index): Check => {
    const name = names[index] as string;
    return isAnswerCheck(check)
      ? { ...check, name }
      : { ...check, name, count: check.count ?? null };
  });
};

/** Returns a check without the members that have their defaults. */
export const givenCheck = (check: Check): GivenCheck => {
  if (isAnswerCheck(check)) return check;
  const { count, ...rest } = check;
  return count === null ? rest : { ...rest, count };
};
