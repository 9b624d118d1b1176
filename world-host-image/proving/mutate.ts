/**
 * Makes single changes of a world's rows, to test whether a grader detects them. Each change is one transaction. If the
 * contract refuses a change, or the change does not have the desired effect, nothing is changed and the function
 * returns false.
 */

import { isObject, own } from '#domain/json.ts';
import type { CheckCount } from '#language/checks.ts';
import { readCondition } from '#language/comparison.ts';
import type { EntityContract, Row } from '#language/contract.ts';
import { readFieldPath } from '#language/field-path.ts';
import { filtersOfConditions } from '#store/read/filter.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { WorldStore } from '#store/world-store.ts';

/**
 * Maximum number of rows that one change may affect. The next constant is the maximum number of values that it tries.
 */
const mostRows = 200;
const mostTries = 12;
/** Maximum number of rows that are searched for values. */
const sampleRows = 50;

export type Matching = { entity: string; where: Row };

/** Error thrown within a change that does not have the desired effect. */
class Unfit extends Error {}

/** Makes a change completely or not at all. Resolves with true if the change was made. */
export const attempt = async (store: WorldStore, change: () => void): Promise<boolean> => {
  try {
    await store.atomically(change);
    return true;
  } catch (error) {
    if (error instanceof StoreRefusal || error instanceof Unfit) return false;
    throw error;
  }
};

/** Tries several changes in order and makes the first one that is possible. Resolves with true if one was made. */
const attemptAny = async (
  store: WorldStore,
  changes: Iterable<() => void>,
  most = mostTries,
): Promise<boolean> => {
  let tries = 0;
  for (const change of changes) {
    if (await attempt(store, change)) return true;
    tries += 1;
    if (tries >= most) return false;
  }
  return false;
};

const parse = (payload: string): Row => JSON.parse(payload) as Row;

const filtersOf = ({ entity, where }: Matching) => filtersOfConditions(entity, where);

export const countOf = (store: WorldStore, of: Matching): number =>
  store.count(of.entity, filtersOf(of));

const rowsOf = (store: WorldStore, of: Matching, limit = mostRows): Row[] =>
  store.query(of.entity, { where: filtersOf(of), limit }).map(parse);

const anyRows = (store: WorldStore, entity: string, limit = sampleRows): Row[] =>
  store.query(entity, { limit }).map(parse);

/** Returns the minimum and maximum number of rows that a check asks for. */
export const boundsOf = (count: CheckCount | null | undefined): { min: number; max: number } => {
  if (count === null || count === undefined) return { min: 1, max: Number.POSITIVE_INFINITY };
  if (typeof count === 'number') return { min: count, max: count };
  return { min: count.min ?? 0, max: count.max ?? Number.POSITIVE_INFINITY };
};

/** Deletes matching rows until fewer than `min` are left. */
export const dropRows = (store: WorldStore, of: Matching, min: number): Promise<boolean> =>
  attempt(store, () => {
    const surplus = Math.max(countOf(store, of) - min + 1, 1);
    if (surplus > mostRows) throw new Unfit();
    for (const row of rowsOf(store, of, surplus)) store.remove(of.entity, row);
    if (countOf(store, of) >= min) throw new Unfit();
  });

const without = (values: unknown[], held: unknown): unknown[] => {
  const seen = new Set([JSON.stringify(held)]);
  return values.filter((value) => {
    const text = JSON.stringify(value);
    if (value === undefined || seen.has(text)) return false;
    seen.add(text);
    return true;
  });
};

/** Returns values that differ from a field's present value and that the field could have. */
const otherValues = (held: unknown, seen: readonly unknown[]): unknown[] => {
  const byKind = (): unknown[] => {
    if (typeof held === 'number') return [held + 1, held - 1];
    if (typeof held === 'string') return [`${held} x`, 'x'];
    return typeof held === 'boolean' ? [!held] : [];
  };
  return without([...byKind(), ...seen, null], held);
};

const valueAt = (row: Row, path: readonly string[]): unknown => {
  let value: unknown = row;
  for (const part of path) value = isObject(value) ? own(value, part) : undefined;
  return value;
};

/** Returns an update of a row's top-level field that sets another value at a path below that field. */
const patchOf = (row: Row, [field = '', ...rest]: readonly string[], value: unknown): Row => {
  if (rest.length === 0) return { [field]: value };
  const inner = own(row, field);
  return {
    [field]: { ...(isObject(inner) ? inner : {}), ...patchOf((inner ?? {}) as Row, rest, value) },
  };
};

/** Sets a field of the matching rows to another value, so that fewer than `min` match. */
export const changeField = (
  store: WorldStore,
  of: Matching,
  name: string,
  min: number,
): Promise<boolean> => {
  const path = readFieldPath(name);
  const rows = rowsOf(store, of);
  const seen = anyRows(store, of.entity).map((row) => valueAt(row, path));
  const [first] = rows;
  if (first === undefined) return Promise.resolve(false);
  const values = otherValues(valueAt(first, path), seen);
  return attemptAny(
    store,
    values.map((value) => () => {
      for (const row of rows) store.update(of.entity, row, patchOf(row, path, value));
      if (countOf(store, of) >= min) throw new Unfit();
    }),
  );
};

/** Sets a field of the first matching row to another value. */
export const changeOne = (store: WorldStore, of: Matching, name: string): Promise<boolean> => {
  const path = readFieldPath(name);
  const [row] = rowsOf(store, of, 1);
  if (row === undefined) return Promise.resolve(false);
  const seen = anyRows(store, of.entity).map((other) => valueAt(other, path));
  return attemptAny(
    store,
    otherValues(valueAt(row, path), seen).map((value) => () => {
      store.update(of.entity, row, patchOf(row, path, value));
    }),
  );
};

/** Sets a field of the matching rows back to its value when the task began. */
export const takeBack = (store: WorldStore, of: Matching, name: string): Promise<boolean> => {
  const path = readFieldPath(name);
  const rows = rowsOf(store, of);
  const before = rows.map((row) => store.rowAtTask(of.entity, row));
  return attempt(store, () => {
    for (const [index, row] of rows.entries()) {
      const was = before[index];
      if (was === undefined) throw new Unfit();
      store.update(of.entity, row, patchOf(row, path, valueAt(parse(was), path)));
    }
  });
};

/** Returns a value that meets a condition; the present value if the function knows no value that does. */
const meeting = (wanted: unknown, held: unknown): unknown => {
  const read = readCondition(wanted);
  if ('fault' in read) return held;
  let value = held;
  for (const { operator, operand } of read) {
    const number = typeof operand === 'number' ? operand : 0;
    if (operator === 'eq' || operator === 'contains') value = operand;
    if (operator === 'in') [value] = operand as unknown[];
    if (operator === 'gte' || operator === 'lte') value = operand;
    if (operator === 'gt') value = typeof operand === 'string' ? `${operand}x` : number + 1;
    if (operator === 'lt') value = typeof operand === 'string' ? '' : number - 1;
    if (operator === 'ne' && value === operand) {
      value = typeof operand === 'string' ? `${operand} x` : number + 1;
    }
    if (operator === 'exists') value = operand === true ? (held ?? 'x') : null;
  }
  return value;
};

const matchingRow = (row: Row, where: Row): Row => {
  let made = row;
  for (const [name, wanted] of Object.entries(where)) {
    const path = readFieldPath(name);
    made = { ...made, ...patchOf(made, path, meeting(wanted, valueAt(made, path))) };
  }
  return made;
};

const bump = (value: unknown): unknown => {
  if (typeof value === 'number') return value + 1_000_000 + Math.abs(value);
  return typeof value === 'string' ? `${value}-x` : value;
};

/** Yields copies of a row with other keys. Fields that `where` names have the same values as in the row. */
function* copiesOf(entity: EntityContract, row: Row, where: Row, others: readonly Row[]) {
  const paths = [...entity.primaryKey.map((field) => [field]), ...entity.unique.flat()];
  const named = new Map(paths.map((path) => [path.join('.'), path]));
  const free = [...named].filter(([name]) => !Object.hasOwn(where, name)).map(([, path]) => path);
  const set = (made: Row, path: readonly string[], value: unknown): Row =>
    value === undefined ? made : { ...made, ...patchOf(made, path, value) };
  const bumped = (made: Row, path: readonly string[]) => set(made, path, bump(valueAt(made, path)));
  yield free.reduce(bumped, row);
  for (const path of free) {
    yield bumped(row, path);
    for (const other of others.slice(0, mostTries / 2)) yield set(row, path, valueAt(other, path));
  }
}

/** Adds matching rows, or makes other rows match, until there are more than `max`. */
export const addRow = async (
  store: WorldStore,
  contract: EntityContract,
  { where }: Matching,
  max: number,
): Promise<boolean> => {
  const entity = contract.name;
  const of = { entity, where };
  const missing = max - countOf(store, of) + 1;
  if (missing > sampleRows) return false;
  const others = anyRows(store, entity);
  const template = rowsOf(store, of, 1)[0] ?? others[0];
  if (template === undefined) return false;
  const more = (change: () => void): boolean => {
    const before = countOf(store, of);
    change();
    return countOf(store, of) > before;
  };
  for (let added = 0; added < Math.max(missing, 1); added += 1) {
    const copies = [...copiesOf(contract, matchingRow(template, where), where, others)];
    const inserts = copies.map((copy) => () => {
      if (!more(() => store.insert(entity, copy))) throw new Unfit();
    });
    const updates = others.map((other) => () => {
      const made = matchingRow(other, where);
      if (!more(() => void store.update(entity, other, made))) throw new Unfit();
    });
    if (!(await attemptAny(store, inserts)) && !(await attemptAny(store, updates))) return false;
  }
  return true;
};

/** Sets a field of matching rows to another value, in so many rows that fewer than `min` are unchanged. */
export const changeAll = (
  store: WorldStore,
  of: Matching,
  name: string,
  min: number,
): Promise<boolean> => {
  const path = readFieldPath(name);
  const rows = rowsOf(store, of);
  const surplus = rows.slice(0, Math.max(rows.length - min + 1, 1));
  const [first] = surplus;
  if (first === undefined) return Promise.resolve(false);
  const seen = anyRows(store, of.entity).map((row) => valueAt(row, path));
  return attemptAny(
    store,
    otherValues(valueAt(first, path), seen).map((value) => () => {
      for (const row of surplus) store.update(of.entity, row, patchOf(row, path, value));
    }),
  );
};

/** Adds a row that has the fields of `link`, but does not meet `where`. */
export const addUnlike = (
  store: WorldStore,
  contract: EntityContract | undefined,
  { link, where }: { link: Row; where: Row },
): Promise<boolean> => {
  if (contract === undefined) return Promise.resolve(false);
  const entity = contract.name;
  // Rows that share all but one field of `link` come first, because the rows they refer to also exist for the new row.
  const near = Object.keys(link).flatMap((field) => {
    const { [field]: _, ...rest } = link;
    return rowsOf(store, { entity, where: rest }, sampleRows);
  });
  const others = [...near, ...anyRows(store, entity)];
  const unlike = () =>
    countOf(store, { entity, where: link }) -
    countOf(store, { entity, where: { ...where, ...link } });
  const before = unlike();
  const linked = others.map((other) => ({ ...other, ...link }));
  const copies = linked.flatMap((row) => [...copiesOf(contract, row, link, others)]);
  return attemptAny(
    store,
    [...linked, ...copies].map((row) => () => {
      store.insert(entity, row);
      if (unlike() <= before) throw new Unfit();
    }),
    linked.length + mostTries,
  );
};

/** Adds a row that resembles an existing one as closely as the keys allow. */
export const copyRow = (store: WorldStore, contract: EntityContract): Promise<boolean> => {
  const others = anyRows(store, contract.name);
  const [row] = others;
  if (row === undefined) return Promise.resolve(false);
  const copies = [...copiesOf(contract, row, {}, others)];
  return attemptAny(
    store,
    copies.map((copy) => () => store.insert(contract.name, copy)),
  );
};
