/**
 * Checks of a grader of the kind `assertions`: conditions on the final state of a session, on its request ledger or on
 * the agent's answer. Bundled, stored and inline tasks all have them in this form.
 */

/** Conditions by field, or by the path to a field. `comparison.ts` defines the form of a condition. */
export type Conditions = { [field: string]: unknown };

/** Number of rows that a check requires: an exact number, or a minimum, a maximum or both. */
export type CheckCount = number | { min?: number; max?: number };

/** Condition on the rows that a declared relationship, in either direction, connects to the row that a check finds. */
export type RelatedRows = {
  entity: string;
  where: Conditions;
  /** Fields of the relationship; needed only if the two entities have several relationships. */
  by?: string[];
};

/** Quantifiers over related rows. */
export const relatedKinds = ['any', 'all', 'none'] as const;
export type RelatedKind = (typeof relatedKinds)[number];

/** Members that every check may have. */
type Judged = {
  name: string;
  /** Weight of the check in the score; 1 if absent. */
  weight?: number;
  /**
   * Names of other checks of the grader. The rows that this check finds must come before (`before`) or after (`after`)
   * the rows that the other check finds.
   */
  before?: string;
  after?: string;
};

/** Check for the number of rows, of an entity or of the ledger, that meet all conditions. */
export type RowsCheck = Judged & {
  entity: string;
  /** Condition on each field. `comparison.ts` defines the form of a condition. */
  where: Conditions;
  /** Required number of rows; null if at least one is required. */
  count: CheckCount | null;
  /** Top-level fields whose values must differ from the row's initial state (`changed`), or equal it (`unchanged`). */
  changed?: string[];
  unchanged?: string[];
  /** Amount by which each top-level field must exceed its initial value. */
  increased_by?: Record<string, number>;
} & { [Kind in RelatedKind]?: RelatedRows };

/** Check on the last answer that the agent gave by a call of the kind `answer`. */
export type AnswerCheck = Judged & {
  kind: 'answer';
  /**
   * Expected answer as JSON. With `as: "set"`, it is a list, and the order and repetitions of its items do not matter.
   */
  equals: unknown;
  as?: 'set';
  /** Maximum difference from the expected number. */
  tolerance?: number;
};

export type Check = RowsCheck | AnswerCheck;

/** Check in the form of tasks outside trees, where names and counts are optional. */
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
 * Returns the names of checks. A check without a name is named after its content. If an earlier check has the same
 * name, the check's number is appended, so that names are unique.
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

/** Returns a check without the members that have their default values. */
export const givenCheck = (check: Check): GivenCheck => {
  if (isAnswerCheck(check)) return check;
  const { count, ...rest } = check;
  return count === null ? rest : { ...rest, count };
};
