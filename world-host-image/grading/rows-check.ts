/**
 * A check of rows: so many rows of which all that it says holds. When one fails for want of rows, it says which of its
 * conditions is in the way and what the rows that meet the others hold there.
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

/** Others have their turn after so many. */
const rowsAtOnce = 200;

/** What the first row that meets all conditions but this one holds instead; undefined when none does. */
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
  const held = value === undefined ? 'absent' : clip(JSON.stringify(value), longestShown);
  return `${missed.path.join('.')} is ${held}`;
};

const explainMissing = (source: RowSource, entity: string, filters: readonly Filter[]): string => {
  const misses = filters.flatMap((missed) => nearMiss(source, entity, filters, missed) ?? []);
  return misses.length === 0
    ? `no row of ${entity} comes close`
    : `in a row that meets the other conditions, ${misses.join('; in another, ')}`;
};

/** Top-level fields that a check names: what of a row it is about. */
const fieldsOf = ({ where, changed = [], increased_by = {} }: GivenRowsCheck): Set<string> =>
  new Set([
    ...Object.keys(where).flatMap((path) => readFieldPath(path).slice(0, 1)),
    ...changed,
    ...Object.keys(increased_by),
  ]);

/** When a row came to be as it is; undefined where the ledger does not say. */
const timeOfRow = (
  entity: EntityContract,
  row: Row,
  fields: ReadonlySet<string>,
  { times, before }: Sources,
): number | undefined => {
  if (entity.name === ledgerEntity) return row.id as number;
  return times.ofRow(entity, row, fields, before.isChanged(entity, row));
};

/** What the order of checks asks of a row's time; says what is in the way. */
export type TimeTest = (time: number) => string | undefined;

type Found = {
  count: number;
  /** Why the first row that meets the conditions does not count. */
  obstacle: string | undefined;
};

/** Rows of which the conditions and all tests hold, read as rows. */
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
    const inTheWay = tests.map((test) => test(row)).find((said) => said !== undefined);
    if (inTheWay === undefined) rows.push(row);
    else obstacle ??= inTheWay;
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
 * When a check's rows came to be as they are: of the ledger its first entry, of others the last of them. Undefined
 * where there are none, or the ledger does not say.
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

/** Which rows count for a check that asks more of a row than its conditions; undefined where it does not. */
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

/** Judges a check of rows. Throws for one that names what the world does not have. */
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
