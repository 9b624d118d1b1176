/**
 * One assertion of a grader: so many rows match. When one fails for want of rows, it says which of its
 * conditions is in the way and what the rows that meet the others hold there.
 */

import { clip } from '#domain/cut.ts';
import { ledgerEntity } from '#domain/ledger.ts';
import type { CheckCount } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { type Filter, filtersOfConditions, type Match } from '#store/read/filter.ts';
import type { Reader } from '#store/read/read.ts';
import type { TaskSpec } from '#wire/public-api/task-spec.ts';
import { type CheckResult, verdictOf } from './check-result.ts';

type Grader = NonNullable<TaskSpec['grader']>;
export type Expectation = Extract<Grader, { kind: 'assertions' }>['checks'][number];

/**
 * What a grader is told that read a ledger whose first entries made room for later ones: what was asked
 * then cannot be told, so nothing about it passes. Else a session could ask until a request is forgotten.
 */
export const wholeLedger = (missing: number): CheckResult[] => {
  if (missing === 0) return [];
  const check = {
    name: 'the request ledger is whole',
    ...verdictOf(false),
    expected: 'every request of the session',
    found: `${missing} of the first are no longer kept`,
    detail:
      'the session asked for more than its ledger keeps; what it asked first cannot be judged',
  };
  return [check];
};

type Source = Pick<Reader, 'query' | 'count'>;
export type Sources = { store: Source; ledger: Source };

const rowsText = (count: number): string => (count === 1 ? '1 row' : `${count} rows`);

const valueText = (value: unknown): string =>
  Array.isArray(value)
    ? `one of ${value.map((item) => JSON.stringify(item)).join(', ')}`
    : JSON.stringify(value);

const words: Record<Match, string> = {
  equals: 'is',
  ne: 'is not',
  lt: 'is less than',
  lte: 'is at most',
  gt: 'is more than',
  gte: 'is at least',
  contains: 'contains',
  prefix: 'begins with',
  exists: 'exists:',
};

const describeFilters = (filters: readonly Filter[]): string =>
  filters
    .map(({ path, match, value }) => `${path.join('.')} ${words[match]} ${valueText(value)}`)
    .join(', ');

const countRange = (count: CheckCount = { min: 1 }): { min: number; max: number } =>
  typeof count === 'number'
    ? { min: count, max: count }
    : { min: count.min ?? 0, max: count.max ?? Number.POSITIVE_INFINITY };

const rangeText = ({ min, max }: { min: number; max: number }): string => {
  if (min === max) return `exactly ${rowsText(min)}`;
  if (max === Number.POSITIVE_INFINITY) return `at least ${rowsText(min)}`;
  return min === 0 ? `at most ${rowsText(max)}` : `${min} to ${rowsText(max)}`;
};

const longestShown = 120;

/** What the first row that meets all conditions but this one holds instead; undefined when none does. */
const nearMiss = (
  source: Source,
  entity: string,
  filters: readonly Filter[],
  missed: Filter,
): string | undefined => {
  const where = filters.filter((filter) => filter !== missed);
  const [payload] = source.query(entity, { where, limit: 1 });
  if (payload === undefined) return undefined;
  const value = valueAtPath(JSON.parse(payload), missed.path);
  const held = value === undefined ? 'absent' : clip(JSON.stringify(value), longestShown);
  return `${missed.path.join('.')} is ${held}`;
};

const explainMissing = (source: Source, entity: string, filters: readonly Filter[]): string => {
  const misses = filters.flatMap((missed) => nearMiss(source, entity, filters, missed) ?? []);
  return misses.length === 0
    ? `no row of ${entity} comes close`
    : `in a row that meets the other conditions, ${misses.join('; in another, ')}`;
};

/** Judges one assertion. Throws `StoreRefusal` for one that names what the world does not have. */
export const checkExpectation = (
  { store, ledger }: Sources,
  { entity, where, count, name, weight }: Expectation,
  index: number,
): CheckResult => {
  const source = entity === ledgerEntity ? ledger : store;
  const filters = filtersOfConditions(entity, where);
  const found = source.count(entity, filters);
  const range = countRange(count);
  const passed = found >= range.min && found <= range.max;
  const conditions = filters.length === 0 ? '' : ` where ${describeFilters(filters)}`;
  return {
    name: name ?? `check ${index + 1}`,
    ...verdictOf(passed),
    ...(weight === undefined ? {} : { weight }),
    expected: `${rangeText(range)} of ${entity}${conditions}`,
    found: rowsText(found),
    detail: found === 0 && found < range.min ? explainMissing(source, entity, filters) : null,
  };
};
