/**
 * Compares an answer of a world with the vendor's: the status, the headers that clients use, each value of rows, and
 * the structure of everything around the rows. Fields that the connector leaves out or adds at ingest count as equal.
 * So do cursors, since a world has cursors of its own.
 */
import { isDeepStrictEqual } from 'node:util';
import { toPointer } from '#domain/json.ts';
import type { FieldPath } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';

/** An answer, with header names in lower case. */
export type Answer = { status: number; headers: Readonly<Record<string, string>>; body: unknown };

export type DifferenceKind =
  | 'status'
  | 'header'
  | 'missing'
  | 'added'
  | 'type'
  | 'value'
  | 'rows'
  | 'order'
  | 'paging';

/** One difference. `pointer` is a JSON pointer into the body, or names a header. */
export type Difference = {
  kind: DifferenceKind;
  pointer: string;
  vendor?: unknown;
  world?: unknown;
};

export type Comparison = { checks: number; differences: Difference[] };

/** Rules for comparing the answers of an operation. */
export type Rules = {
  /** Path of the rows; null: the body has none, and only structures are compared. */
  rows: FieldPath | null;
  /** Fields by which rows are matched. */
  key: readonly string[];
  /** Fields of rows that the connector leaves out of the world. */
  leftOut: ReadonlySet<string>;
  /** Fields that the world's rows have in addition to the vendor's. */
  carried: ReadonlySet<string>;
  /** Path of the cursor in the body, and the headers that hold it. */
  cursor: FieldPath | null;
  cursorHeaders: ReadonlySet<string>;
  /**
   * Name of the header and key of the member with the count of all rows. The count is compared only if all rows were
   * captured.
   */
  totalHeader: string | null;
  totalKey: string | null;
  isComplete: boolean;
  /** True to compare values. False to compare only structures, since answers to writes contain new ids and times. */
  withValues: boolean;
  /** Base addresses that count as equal: the vendor's and the world's. */
  bases: readonly string[];
  /** Path of the request. Error messages may repeat it, so it counts as equal. */
  path: string;
};

type Compare = { rules: Rules; checks: number; differences: Difference[] };

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
};

const isObject = (value: unknown): value is Record<string, unknown> => typeOf(value) === 'object';

const check = (compare: Compare, isSame: boolean, difference: Difference): void => {
  compare.checks += 1;
  if (!isSame) compare.differences.push(difference);
};

const neutral = ({ rules }: Compare, value: unknown): unknown =>
  typeof value === 'string'
    ? rules.bases.reduce(
        (text, base) => (base === '' ? text : text.replaceAll(base, '{base}')),
        value,
      )
    : value;

/** Matches names of fields of an error that have another value in each answer. */
const passing = /^(?:request_?id|trace_?id|correlation_?id|timestamp|time|date|instance)$/i;

const isEcho = ({ rules }: Compare, key: string, vendor: unknown): boolean =>
  passing.test(key) ||
  (typeof vendor === 'string' && rules.path !== '' && vendor.includes(rules.path));

type At = { path: FieldPath; vendor: unknown; world: unknown };

/** Visits the keys that both values have, and reports keys that only one of them has. */
const eachKey = (
  compare: Compare,
  { path, vendor, world }: At,
  skip: (key: string, has: 'both' | 'vendor' | 'world') => boolean,
  visit: (at: At) => void,
): void => {
  const one = vendor as Record<string, unknown>;
  const other = world as Record<string, unknown>;
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const isIn = Object.hasOwn(one, key);
    const has = isIn && Object.hasOwn(other, key) ? 'both' : isIn ? 'vendor' : 'world';
    if (skip(key, has)) continue;
    const inner = { path: [...path, key], vendor: one[key], world: other[key] };
    const pointer = toPointer(inner.path);
    if (has === 'both') visit(inner);
    else if (has === 'vendor') {
      check(compare, false, { kind: 'missing', pointer, vendor: one[key] });
    } else check(compare, false, { kind: 'added', pointer, world: other[key] });
  }
};

/** Compares two values, at any depth. */
const compareValues = (compare: Compare, at: At, isError = false): void => {
  const { path, vendor, world } = at;
  const pointer = toPointer(path);
  const kinds = [typeOf(vendor), typeOf(world)];
  if (kinds[0] !== kinds[1]) check(compare, false, { kind: 'type', pointer, vendor, world });
  else if (isObject(vendor)) {
    eachKey(
      compare,
      at,
      () => false,
      (inner) => compareValues(compare, inner, isError),
    );
  } else if (Array.isArray(vendor) && Array.isArray(world)) {
    check(compare, vendor.length === world.length, {
      ...{ kind: 'value', pointer },
      ...{ vendor: `${vendor.length} items`, world: `${world.length} items` },
    });
    for (const [index, item] of vendor.slice(0, world.length).entries()) {
      const inner = { path: [...path, String(index)], vendor: item, world: world[index] };
      compareValues(compare, inner, isError);
    }
  } else {
    const isSame =
      isDeepStrictEqual(neutral(compare, vendor), neutral(compare, world)) ||
      (isError && isEcho(compare, path.at(-1) ?? '', vendor));
    check(compare, isSame, { kind: 'value', pointer, vendor, world });
  }
};

/** Compares only the structure of two values: the keys, and the types of their values. null matches any type. */
const compareForms = (compare: Compare, at: At, skip: readonly string[] = []): void => {
  const { path, vendor, world } = at;
  const pointer = toPointer(path);
  if (skip.includes(pointer)) return;
  const kinds = [typeOf(vendor), typeOf(world)];
  if (kinds.includes('null')) check(compare, true, { kind: 'type', pointer });
  else if (kinds[0] !== kinds[1]) check(compare, false, { kind: 'type', pointer, vendor, world });
  else if (isObject(vendor)) {
    const isSkipped = (key: string) => skip.includes(toPointer([...path, key]));
    eachKey(compare, at, isSkipped, (inner) => compareForms(compare, inner, skip));
  } else if (Array.isArray(vendor) && Array.isArray(world)) {
    check(compare, vendor.length === 0 || world.length > 0, {
      ...{ kind: 'rows', pointer },
      ...{ vendor: `${vendor.length} items`, world: 'none' },
    });
    const [first] = vendor;
    const inner = { path: [...path, '0'], vendor: first, world: world[0] };
    if (first !== undefined && world.length > 0) compareForms(compare, inner, skip);
  } else check(compare, true, { kind: 'type', pointer });
};

const compareRow = (compare: Compare, at: At): void => {
  const { leftOut, carried, withValues } = compare.rules;
  if (!isObject(at.vendor) || !isObject(at.world)) {
    compareValues(compare, at);
    return;
  }
  const skip = (key: string, has: 'both' | 'vendor' | 'world'): boolean =>
    (has === 'vendor' && leftOut.has(key)) || (has === 'world' && carried.has(key));
  eachKey(compare, at, skip, (inner) =>
    withValues ? compareValues(compare, inner) : compareForms(compare, inner),
  );
};

const keyOf = ({ rules }: Compare, row: unknown): string | undefined => {
  if (!isObject(row) || rules.key.some((name) => !Object.hasOwn(row, name))) return undefined;
  // Keys are compared as texts, so that a key of another type is reported as a type difference, not as a missing row.
  return JSON.stringify(rules.key.map((name) => String(row[name])));
};

/** Compares rows by their keys. If some rows of the vendor have no key, compares rows by their positions. */
const compareRows = (
  compare: Compare,
  path: FieldPath,
  vendor: readonly unknown[],
  world: readonly unknown[],
): void => {
  check(compare, vendor.length === world.length, {
    ...{ kind: 'rows', pointer: toPointer(path) },
    ...{ vendor: `${vendor.length} rows`, world: `${world.length} rows` },
  });
  const keys = vendor.map((row) => keyOf(compare, row));
  const isKeyed = !keys.includes(undefined);
  const byKey = new Map(world.map((row) => [keyOf(compare, row), row]));
  const common = keys.filter((key) => byKey.has(key));
  if (isKeyed) {
    const served = world.map((row) => keyOf(compare, row)).filter((key) => keys.includes(key));
    check(compare, isDeepStrictEqual(common, served), {
      ...{ kind: 'order', pointer: toPointer(path) },
      ...{ vendor: common.slice(0, 10), world: served.slice(0, 10) },
    });
  }
  for (const [index, row] of vendor.entries()) {
    const other = isKeyed ? byKey.get(keys[index]) : world[index];
    const at = [...path, String(index)];
    if (other !== undefined) compareRow(compare, { path: at, vendor: row, world: other });
    else check(compare, false, { kind: 'missing', pointer: toPointer(at), vendor: row });
  }
};

const mediaType = (header: string | undefined): string =>
  (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

const pagingRelations = /^(?:next|prev|previous|first|last)$/i;

/** Returns the names of the pages that a `Link` header leads to, such as `next`. */
const relationsOf = (link: string): string[] =>
  [...link.matchAll(/;\s*rel\s*=\s*"?([^";,]+)/gi)]
    .map(([, relation = '']) => relation)
    .filter((relation) => pagingRelations.test(relation))
    .sort();

const compareHeaders = (compare: Compare, vendor: Answer, world: Answer): void => {
  const { cursorHeaders, totalHeader, isComplete } = compare.rules;
  for (const [name, value] of Object.entries(vendor.headers)) {
    const served = world.headers[name];
    const shown = { kind: 'header' as const, pointer: name, vendor: value, world: served };
    if (name === 'content-type') {
      check(compare, mediaType(value) === mediaType(served), shown);
    } else if (name === 'link') {
      check(compare, isDeepStrictEqual(relationsOf(value), relationsOf(served ?? '')), shown);
    } else if (name === totalHeader && isComplete) check(compare, value === served, shown);
    else if (!cursorHeaders.has(name)) check(compare, served !== undefined, shown);
  }
};

const compareTotal = (compare: Compare, vendor: unknown, world: unknown): void => {
  const { totalKey, isComplete } = compare.rules;
  if (totalKey === null || !isComplete || !isObject(vendor) || !isObject(world)) return;
  if (!Object.hasOwn(vendor, totalKey) || !Object.hasOwn(world, totalKey)) return;
  const [one, other] = [vendor[totalKey], world[totalKey]];
  const pointer = toPointer([totalKey]);
  check(compare, one === other, { kind: 'value', pointer, vendor: one, world: other });
};

const compareBodies = (compare: Compare, vendor: Answer, world: Answer): void => {
  const { rows, cursor } = compare.rules;
  const whole = { path: [], vendor: vendor.body, world: world.body };
  if (vendor.status > 299) {
    compareValues(compare, whole, true);
    return;
  }
  if (rows === null) {
    compareForms(compare, whole);
    return;
  }
  const one = valueAtPath(vendor.body, rows);
  const other = valueAtPath(world.body, rows);
  const skip = [toPointer(rows), ...(cursor === null ? [] : [toPointer(cursor)])];
  compareForms(compare, whole, skip);
  compareTotal(compare, vendor.body, world.body);
  if (Array.isArray(one) && Array.isArray(other)) compareRows(compare, rows, one, other);
  else if (isObject(one) && isObject(other)) {
    compareRow(compare, { path: rows, vendor: one, world: other });
  } else {
    const pointer = toPointer(rows);
    const isSame = typeOf(one) === typeOf(other);
    check(compare, isSame, { kind: 'type', pointer, vendor: one, world: other });
  }
};

/** Returns all differences. If the status differs, nothing else is compared. */
export const compareAnswers = (rules: Rules, vendor: Answer, world: Answer): Comparison => {
  const compare: Compare = { rules, checks: 0, differences: [] };
  check(compare, vendor.status === world.status, {
    ...{ kind: 'status', pointer: '' },
    ...{ vendor: vendor.status, world: world.status },
  });
  if (vendor.status === world.status) {
    compareHeaders(compare, vendor, world);
    compareBodies(compare, vendor, world);
  }
  return { checks: compare.checks, differences: compare.differences };
};
