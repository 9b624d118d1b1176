/**
 * Converts an answer of the vendor into rows, according to the operation's `results` and `ingest`.
 *
 * The rows are not validated. A vendor's field that the entity lacks stays unless it is dropped; an argument is written
 * as given, as text even if the entity has an integer; two answers may have the same row. The caller, which knows the
 * entities, converts, validates and merges. If the answer does not have the form that the operation expects, there is
 * no row, and a gap reports that.
 */

import { own, toPointer } from '#domain/json.ts';
import type { Explode, FieldPath, Row, VendorOperation } from '../contract.ts';
import { valueAtPath } from '../field-path.ts';
import { isTable, type Table } from '../read/values.ts';

/**
 * Gap: a part that was expected and not found. `pointer` leads to the first place of the gap, in the answer's body or
 * among the arguments. `detail` continues a sentence, for example `is missing`, and never quotes a value. `count` is
 * the number of such places; all items of a list count as places of the same gap.
 */
export type IngestGap = {
  source: 'body' | 'arguments';
  pointer: string;
  detail: string;
  count: number;
};

type IngestResult = {
  /** Rows in the order of the answer; each captured row comes before the rows from its lists. */
  rows: { entity: string; row: Row }[];
  missing: IngestGap[];
};

/** A place in the body: its path, and the same path with `*` in place of each index of a list. */
type Spot = { path: FieldPath; pattern: FieldPath };

type Gaps = {
  note(spot: Spot, detail: string, source?: IngestGap['source']): void;
  list(): IngestGap[];
};

const createGaps = (): Gaps => {
  const gaps = new Map<string, IngestGap>();
  return {
    note({ path, pattern }, detail, source = 'body') {
      const key = JSON.stringify([source, pattern, detail]);
      const known = gaps.get(key);
      if (known === undefined)
        gaps.set(key, { source, pointer: toPointer(path), detail, count: 1 });
      else known.count += 1;
    },
    list: () => [...gaps.values()],
  };
};

const below = ({ path, pattern }: Spot, inner: FieldPath): Spot => ({
  path: [...path, ...inner],
  pattern: [...pattern, ...inner],
});

const itemOf = ({ path, pattern }: Spot, index: number): Spot => ({
  path: [...path, String(index)],
  pattern: [...pattern, '*'],
});

/** Returns the name of a value's type, and nothing of its content, because captured values may be personal. */
const nameType = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
};

/**
 * Returns a copy without the value at a path. A removed item of a list becomes null, so that the indexes of the other
 * items stay.
 */
const without = (value: unknown, [segment = '', ...rest]: FieldPath): unknown => {
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => {
      if (String(index) !== segment) return item;
      return rest.length === 0 ? null : without(item, rest);
    });
  }
  if (!isTable(value)) return value;
  const entries = Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
    if (key !== segment) return [[key, item]];
    return rest.length === 0 ? [] : [[key, without(item, rest)]];
  });
  return Object.fromEntries(entries);
};

/** Returns the captured rows of a body. */
const findRows = (body: unknown, results: FieldPath, gaps: Gaps): { row: Table; at: Spot }[] => {
  const found = valueAtPath(body, results);
  const at: Spot = { path: results, pattern: results };
  if (isTable(found)) return [{ row: found, at }];
  if (Array.isArray(found)) {
    return found.flatMap((row: unknown, index) => {
      if (isTable(row)) return [{ row, at: itemOf(at, index) }];
      gaps.note(itemOf(at, index), `must be an object, is ${nameType(row)}`);
      return [];
    });
  }
  if (found === undefined) gaps.note(at, 'is missing');
  else if (found !== null) gaps.note(at, `must be a list or an object, is ${nameType(found)}`);
  return [];
};

const carryArguments = (
  { ingest }: VendorOperation,
  given: Row,
  gaps: Gaps,
): [field: string, value: unknown][] =>
  ingest.carryArgs.flatMap(({ field, argument }): [string, unknown][] => {
    const value = own(given, argument);
    if (value !== undefined) return [[field, value]];
    gaps.note({ path: [argument], pattern: [argument] }, 'is missing', 'arguments');
    return [];
  });

/** Returns the fields taken from an item; undefined if the item does not have the required form. */
const takeFields = (take: Explode['take'], item: unknown): [string, unknown][] | undefined => {
  if (take === null) return isTable(item) ? Object.entries(item) : undefined;
  const isWhole = take.every(({ from }) => from.length === 0);
  if (!isWhole && !isTable(item) && !Array.isArray(item)) return undefined;
  return take.flatMap(({ field, from }): [string, unknown][] => {
    const value = valueAtPath(item, from);
    return value === undefined ? [] : [[field, value]];
  });
};

/** A captured row: the row as received, the row with the arguments written onto it, and its place. */
type Captured = { row: Table; withArguments: Table; at: Spot };

/** Builds rows of another entity from the items of a list inside a captured row. */
const explodeList = (
  { field: path, carry, take }: Explode,
  { row, withArguments, at }: Captured,
  gaps: Gaps,
): Row[] => {
  const list = valueAtPath(row, path);
  if (list === null) return [];
  if (!Array.isArray(list)) {
    const detail = list === undefined ? 'is missing' : `must be a list, is ${nameType(list)}`;
    gaps.note(below(at, path), detail);
    return [];
  }
  const carried = carry.flatMap(({ field, from }): [string, unknown][] => {
    const value = valueAtPath(withArguments, from);
    if (value !== undefined) return [[field, value]];
    gaps.note(below(at, from), 'is missing');
    return [];
  });
  return list.flatMap((item: unknown, index): Row[] => {
    const taken = takeFields(take, item);
    if (taken !== undefined) return [Object.fromEntries([...taken, ...carried])];
    gaps.note(itemOf(below(at, path), index), `must be an object, is ${nameType(item)}`);
    return [];
  });
};

/** Removes from the captured row the lists whose items became rows; other values stay. */
const takeOutLists = (captured: Table, explode: readonly Explode[]): Table =>
  explode.reduce<Table>((row, { field }) => {
    const value = valueAtPath(captured, field);
    return value === null || Array.isArray(value) ? (without(row, field) as Table) : row;
  }, captured);

/**
 * Returns the rows of an answer, and its gaps. An operation without an entity gives no rows. `null` in place of rows or
 * of a list to explode counts as an empty list. `carry` takes values from the captured row with the arguments written
 * onto it, before anything is dropped.
 */
export const ingestAnswer = (
  operation: VendorOperation,
  answer: { arguments: Row; body: unknown },
): IngestResult => {
  const { entity, results, ingest } = operation;
  if (entity === null) return { rows: [], missing: [] };
  const gaps = createGaps();
  const dropped = new Set(ingest.drop);
  const carried = carryArguments(operation, answer.arguments, gaps);
  const rows = findRows(answer.body, results, gaps).flatMap(({ row, at }) => {
    const kept = Object.entries(takeOutLists(row, ingest.explode));
    const stored = Object.fromEntries([...kept.filter(([key]) => !dropped.has(key)), ...carried]);
    const captured = { row, withArguments: { ...row, ...Object.fromEntries(carried) }, at };
    const inner = ingest.explode.flatMap((explode) =>
      explodeList(explode, captured, gaps).map((of) => ({ entity: explode.entity, row: of })),
    );
    return [{ entity, row: stored }, ...inner];
  });
  return { rows, missing: gaps.list() };
};
