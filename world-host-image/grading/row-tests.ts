/**
 * Tests a row for what a check requires in addition to its conditions: related rows, and differences from the row's
 * earlier state. Each test returns the reason why the row fails, or undefined if it passes.
 */
import { isDeepStrictEqual } from 'node:util';
import { clip } from '#domain/cut.ts';
import {
  type RelatedKind,
  type RelatedRows,
  type RowsCheck,
  relatedKinds,
} from '#language/checks.ts';
import type { EntityContract, Row } from '#language/contract.ts';
import { findRelation } from '#language/relations.ts';
import { type Filter, filtersOfConditions } from '#store/read/filter.ts';
import { CallFailure } from '../calls/answers/failure.ts';
import { findEntity, type Sources } from './sources.ts';
import { describeFilters, rowsText } from './words.ts';

/** Test of a row: returns in words why the row fails, or undefined if it passes. */
export type RowTest = (row: Row) => string | undefined;

/** Members of a check that are tested row by row. */
export type TestedRows = Pick<RowsCheck, 'changed' | 'unchanged' | 'increased_by' | RelatedKind>;

const longestShown = 120;
const show = (value: unknown): string =>
  value === undefined ? 'absent' : clip(JSON.stringify(value), longestShown);

/** Relative tolerance for sums of decimals, because floating-point numbers represent them inexactly. */
const roundingShare = 1e-9;

const isNearly = (found: number, wanted: number, size: number): boolean =>
  Math.abs(found - wanted) <= roundingShare * Math.max(1, Math.abs(size));

type Before = { row: Row; before: Row };
type FieldTest = (at: Before) => string | undefined;

const changedTest =
  (field: string): FieldTest =>
  ({ row, before }) =>
    isDeepStrictEqual(row[field], before[field])
      ? `${field} is ${show(row[field])} as it was`
      : undefined;

const unchangedTest =
  (field: string): FieldTest =>
  ({ row, before }) =>
    isDeepStrictEqual(row[field], before[field])
      ? undefined
      : `${field} was ${show(before[field])} and is ${show(row[field])}`;

const increasedTest =
  (field: string, by: number): FieldTest =>
  ({ row, before }) => {
    const [now, was] = [row[field], before[field]];
    if (typeof now !== 'number' || typeof was !== 'number') {
      return `${field} was ${show(was)} and is ${show(now)}`;
    }
    if (isNearly(now - was, by, now)) return undefined;
    return `${field} was ${was} and is ${now}`;
  };

const changeTests = (
  entity: EntityContract,
  { changed = [], unchanged = [], increased_by = {} }: TestedRows,
  { before }: Sources,
): RowTest[] => {
  const tests = [
    ...changed.map(changedTest),
    ...unchanged.map(unchangedTest),
    ...Object.entries(increased_by).map(([field, by]) => increasedTest(field, by)),
  ];
  return tests.map((test) => (row) => {
    const was = before.of(entity, row);
    return was === undefined ? 'it was not there when the task began' : test({ row, before: was });
  });
};

type Counts = { matching: number; all: () => number };

const verdicts: Record<RelatedKind, (counts: Counts) => boolean> = {
  any: ({ matching }) => matching > 0,
  all: ({ matching, all }) => matching === all(),
  none: ({ matching }) => matching === 0,
};

const relatedTest = (
  from: EntityContract,
  kind: RelatedKind,
  { entity: name, where, by }: RelatedRows,
  sources: Sources,
): RowTest => {
  const to = findEntity(sources, name);
  const found = findRelation(from, to, by);
  if ('fault' in found) throw new CallFailure({ code: 'bad_grader', message: found.fault });
  const wanted = filtersOfConditions(name, where);
  return (row) => {
    const tied: Filter[] = found.relation.map((pair) => ({
      path: [pair.to],
      match: 'equals',
      value: row[pair.from] ?? null,
    }));
    // Null relates to nothing; a query for it would find all rows that have none.
    const isTied = tied.every(({ value }) => value !== null);
    const count = (filters: Filter[]): number => (isTied ? sources.store.count(name, filters) : 0);
    const matching = count([...tied, ...wanted]);
    if (verdicts[kind]({ matching, all: () => count(tied) })) return undefined;
    const conditions = wanted.length === 0 ? '' : ` where ${describeFilters(wanted)}`;
    const all = count(tied);
    if (all === 0) return `it has no row of ${name}`;
    return `of its ${rowsText(all)} of ${name}, ${matching} ${matching === 1 ? 'is' : 'are'}${conditions || ' there'}`;
  };
};

/**
 * Returns the tests of a check on rows of an entity. Throws `CallFailure` if the check names something that the world
 * does not have.
 */
export const rowTests = (
  entity: EntityContract,
  check: TestedRows,
  sources: Sources,
): RowTest[] => [
  ...relatedKinds.flatMap((kind) => {
    const related = check[kind];
    return related === undefined ? [] : [relatedTest(entity, kind, related, sources)];
  }),
  ...changeTests(entity, check, sources),
];

/** Describes what a check requires of each row in addition to its conditions. */
export const describeTests = (check: TestedRows): string[] => {
  const { changed, unchanged, increased_by } = check;
  return [
    ...relatedKinds.flatMap((kind) => {
      const related = check[kind];
      if (related === undefined) return [];
      const filters = filtersOfConditions(related.entity, related.where);
      const conditions = filters.length === 0 ? '' : ` where ${describeFilters(filters)}`;
      return [`${kind} of its ${related.entity}${conditions}`];
    }),
    ...(changed === undefined ? [] : [`${changed.join(', ')} changed`]),
    ...(unchanged === undefined ? [] : [`${unchanged.join(', ')} unchanged`]),
    ...Object.entries(increased_by ?? {}).map(([field, by]) => `${field} increased by ${by}`),
  ];
};
