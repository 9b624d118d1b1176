/**
 * Judges a check of rows. Such a check requires that a number of rows meets its conditions and passes its tests. If
 * there are too few, the result names the condition that fails, and the value of that field in rows that meet the other
 * conditions.
 */
import { clip } from '#domain/cut.ts';
import { ledgerEntity } from '#domain/ledger.ts';
import type { GivenCheck } from '#language/checks.ts';
import type { EntityContract, Row } from '#language/contract.ts';
import { readFieldPath, valueAtPath } from '#language/field-path.ts';
import { type Filter, filtersOfConditions } from '#store/read/filter.ts';
import type { CountedRows } from './changes/explain.ts';
import type { CheckResult } from './check-result.ts';
import { verdictOf } from './check-result.ts';
import type { RowSource } from './row-source.ts';
import { describeTests, type RowTest, rowTests } from './row-tests.ts';
import { findEntity, type Sources, sourceOf } from './sources.ts';
import { countRange, describeFilters, rangeText, rowsText } from './words.ts';

export type GivenRowsCheck = Exclude<GivenCheck, { kind: 'answer' }>;

const longestShown = 120;

/** Number of rows after which the loop pauses so that other work can run. */
const rowsAtOnce = 200;

/**
 * Finds the first row that meets all conditions except `missed`, and describes its value in that field; returns
 * undefined if there is no such row.
 */
const nearMiss = (
  source: RowSource,
  entity: string,
  filters: readonly Filter[],
  missed: Filter,
): string | undefined => {
  const where = filters.filter((filter) => filter !== missed);
  const [payload] = source.query(entity, { where, limit: 1 });
  if (payload === undefined) return undefined;
  const value = valueAtPath(JSON.parse(payload), missed.path);
  const found = value === undefined ? 'absent' : clip(JSON.stringify(value), longestShown);
  return `${missed.path.join('.')} is ${found}`;
};

const explainMissing = (source: RowSource, entity: string, filters: readonly Filter[]): string => {
  const misses = filters.flatMap((missed) => nearMiss(source, entity, filters, missed) ?? []);
  return misses.length === 0
    ? `no row of ${entity} comes close`
    : `in a row that meets the other conditions, ${misses.join('; in another, ')}`;
};

/** Returns the top-level fields that a check names. Only changes of these fields count for the time of a row. */
const fieldsOf = ({ where, changed = [], increased_by = {} }: GivenRowsCheck): Set<string> =>
  new Set([
    ...Object.keys(where).flatMap((path) => readFieldPath(path).slice(0, 1)),
    ...changed,
    ...Object.keys(increased_by),
  ]);

/** Returns the number of the ledger entry that gave a row its present state; undefined if no entry names the row. */
const timeOfRow = (
  entity: EntityContract,
  row: Row,
  fields: ReadonlySet<string>,
  { times, before }: Sources,
): number | undefined => {
  if (entity.name === ledgerEntity) return row.id as number;
  return times.ofRow(entity, row, fields, before.isChanged(entity, row));
};

/**
 * Test of a time against the check that `before` or `after` names: returns in words why it fails, or undefined if it
 * passes.
 */
export type TimeTest = (time: number) => string | undefined;

type Found = {
  count: number;
  /** Reason why the first row that meets the conditions does not count; undefined if all count. */
  obstacle: string | undefined;
};

/** Returns the rows that meet the conditions and pass all tests. `obstacle` is why the first other row failed. */
const rowsThatPass = async (
  { pause }: Pick<Sources, 'pause'>,
  source: RowSource,
  entity: string,
  filters: readonly Filter[],
  tests: readonly RowTest[],
): Promise<{ rows: Row[]; obstacle: string | undefined }> => {
  const rows: Row[] = [];
  let obstacle: string | undefined;
  for (const [at, payload] of source.query(entity, { where: filters }).entries()) {
    if (at % rowsAtOnce === rowsAtOnce - 1) await pause();
    const row = JSON.parse(payload) as Row;
    const failing = tests.map((test) => test(row)).find((said) => said !== undefined);
    if (failing === undefined) rows.push(row);
    else obstacle ??= failing;
  }
  return { rows, obstacle };
};

const testsOf = (
  entity: EntityContract,
  check: GivenRowsCheck,
  sources: Sources,
  timeTests: readonly TimeTest[],
): RowTest[] => {
  const tests = rowTests(entity, check, sources);
  if (timeTests.length === 0) return tests;
  const fields = fieldsOf(check);
  const ordered: RowTest = (row) => {
    const time = timeOfRow(entity, row, fields, sources);
    if (time === undefined) return 'the ledger does not say when it changed';
    return timeTests.map((test) => test(time)).find((said) => said !== undefined);
  };
  return [...tests, ordered];
};

const find = async (
  sources: Sources,
  source: RowSource,
  entity: string,
  filters: readonly Filter[],
  tests: readonly RowTest[],
): Promise<Found> => {
  if (tests.length === 0) return { count: source.count(entity, filters), obstacle: undefined };
  const { rows, obstacle } = await rowsThatPass(sources, source, entity, filters, tests);
  return { count: rows.length, obstacle };
};

/**
 * Returns the time of a check's rows, as the number of a ledger entry: for entries of the ledger, the first that
 * matches; for other entities, the last change. Undefined if there are no rows, or if the time cannot be determined
 * from the ledger.
 */
export const timeOfRows = async (
  check: GivenRowsCheck,
  sources: Sources,
): Promise<number | undefined> => {
  const entity = findEntity(sources, check.entity);
  const filters = filtersOfConditions(check.entity, check.where);
  const tests = rowTests(entity, check, sources);
  const source = sourceOf(sources, check.entity);
  const { rows } = await rowsThatPass(sources, source, check.entity, filters, tests);
  const fields = fieldsOf(check);
  const times = rows.map((row) => timeOfRow(entity, row, fields, sources));
  if (times.length === 0 || times.includes(undefined)) return undefined;
  return entity.name === ledgerEntity
    ? (times as number[]).reduce((a, b) => Math.min(a, b))
    : (times as number[]).reduce((a, b) => Math.max(a, b));
};

/**
 * Returns which rows count for a check that has tests in addition to its conditions; undefined if it has only
 * conditions.
 */
export const countedRows = async (
  check: GivenRowsCheck,
  sources: Sources,
): Promise<CountedRows | undefined> => {
  const { entity: name, where, count } = check;
  const tests = rowTests(findEntity(sources, name), check, sources);
  if (tests.length === 0) return undefined;
  const holds = (row: Row): boolean => tests.every((test) => test(row) === undefined);
  if (Number.isFinite(countRange(count).max)) return { holds, count: 0 };
  const filters = filtersOfConditions(name, where);
  const { rows } = await rowsThatPass(sources, sourceOf(sources, name), name, filters, tests);
  return { holds, count: rows.length };
};

type Judged = Omit<CheckResult, 'name' | 'weight'>;

/** Judges a check of rows. Throws if the check names something that the world does not have. */
export const judgeRows = async (
  check: GivenRowsCheck,
  sources: Sources,
  timeTests: readonly TimeTest[],
  orderText: readonly string[],
): Promise<Judged> => {
  const { entity: name, where, count } = check;
  const entity = findEntity(sources, name);
  const source = sourceOf(sources, name);
  const filters = filtersOfConditions(name, where);
  const found = await find(
    sources,
    source,
    name,
    filters,
    testsOf(entity, check, sources, timeTests),
  );
  const range = countRange(count);
  const passed = found.count >= range.min && found.count <= range.max;
  const said = [...describeTests(check), ...orderText];
  const conditions = [
    filters.length === 0 ? '' : ` where ${describeFilters(filters)}`,
    ...said.map((text) => `, ${text}`),
  ].join('');
  const isMissing = found.count < range.min;
  const missing = (): string | null => {
    if (found.obstacle !== undefined) return found.obstacle;
    return found.count === 0 ? explainMissing(source, name, filters) : null;
  };
  return {
    ...verdictOf(passed),
    expected: `${rangeText(range)} of ${name}${conditions}`,
    found: rowsText(found.count),
    detail: isMissing ? missing() : null,
  };
};
