/**
 * Checks of a grader of the kind `assertions`: what must hold of the state that a session leaves, of its request ledger
 * or of the agent's answer. Bundled, stored and inline tasks all have them in this form.
 */

/** By field, or path to one, what `comparison.ts` reads. */
export type Conditions = { [field: string]: unknown };

/** Exactly so many rows, or so many at least, at most. */
export type CheckCount = number | { min?: number; max?: number };

/** Rows that a declared relationship ties to the row of a check, in either direction. */
export type RelatedRows = {
  entity: string;
  where: Conditions;
  /** The fields of the relationship, where the two entities have several. */
  by?: string[];
};

/** How a check asks for related rows. */
export const relatedKinds = ['any', 'all', 'none'] as const;
export type RelatedKind = (typeof relatedKinds)[number];

/** What every check may say. */
type Judged = {
  name: string;
  /** What it counts for in the score; absent: 1. */
  weight?: number;
  /** Names of other checks of the grader: what this one finds came before, or after, what that one finds. */
  before?: string;
  after?: string;
};

/** Rows of an entity or of the ledger of which all that is said holds, and how many of them there must be. */
export type RowsCheck = Judged & {
  entity: string;
  /** Each field as `comparison.ts` reads it. */
  where: Conditions;
  /** Null: at least one. */
  count: CheckCount | null;
  /** Top-level fields that differ from the row as it was when the task began, or are the same. */
  changed?: string[];
  unchanged?: string[];
  /** By how much a top-level field is more than it was then. */
  increased_by?: Record<string, number>;
} & { [Kind in RelatedKind]?: RelatedRows };

/** The last answer that the agent gave by a call of the kind `answer`. */
export type AnswerCheck = Judged & {
  kind: 'answer';
  /** JSON. With `as: "set"` a list, whose order and repeats do not matter. */
  equals: unknown;
  as?: 'set';
  /** How far a number may be off. */
  tolerance?: number;
};

export type Check = RowsCheck | AnswerCheck;

/** A check as tasks outside of trees give it: names and counts may be left out. */
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
 * The names of checks. One without a name is called by what it asks for. Where that makes two of a name, the later one's
 * place is told, so that each has its own.
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

/** The checks with their names, and what is left out of them. */
export const wholeChecks = (checks: readonly GivenCheck[]): Check[] => {
  const names = namesOfChecks(checks);
  return checks.map((check, index): Check => {
    const name = names[index] as string;
    return isAnswerCheck(check)
      ? { ...check, name }
      : { ...check, name, count: check.count ?? null };
  });
};

/** A check as one that leaves out what it does not say. */
export const givenCheck = (check: Check): GivenCheck => {
  if (isAnswerCheck(check)) return check;
  const { count, ...rest } = check;
  return count === null ? rest : { ...rest, count };
};
