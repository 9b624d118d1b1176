/**
 * Checks that rows are consistent: no repeated key or values of a unique list, and no reference to a missing row. The
 * store enforces the same rules; this check reports all such problems of a tree before there is a store.
 */
import { own } from '#domain/json.ts';
import type { EntityContract, FieldPath, Row } from '../contract.ts';
import type { Placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { isTable } from '../read/values.ts';
import type { Model } from './model.ts';
import { createRowRefusals, type RowSets } from './row-files.ts';

/** A uniqueness constraint on the rows of an entity, and its name for messages. */
type Constraint = { paths: FieldPath[]; what: string };

const valueAt = (row: Row, path: FieldPath): unknown => {
  let value: unknown = row;
  for (const segment of path) {
    if (Array.isArray(value)) value = value[Number(segment)];
    else value = isTable(value) ? own(value, segment) : undefined;
  }
  return value;
};

/**
 * Values of a row at some paths, as one value that a set can compare. A single scalar stays as it is, because the
 * values of a field have one type.
 */
type Tuple = string | number | boolean;

const standsForItself = (value: unknown): value is Tuple => typeof value !== 'object';

/** Returns the tuple of a row; undefined if one of the values is null or absent. */
const tupleOf = (row: Row, paths: readonly FieldPath[]): Tuple | undefined => {
  const values: unknown[] = [];
  for (const path of paths) {
    const value = valueAt(row, path);
    if (value === null || value === undefined) return undefined;
    if (paths.length === 1 && standsForItself(value)) return value;
    values.push(value);
  }
  return JSON.stringify(values);
};

type Tuples = readonly (Tuple | undefined)[];

const tuplesByRows = new WeakMap<readonly Row[], Map<string, Tuples>>();

/**
 * Returns, for each row by its index, the tuple of its values at the given paths. The tuples are cached, because
 * several checks use them.
 */
const tuplesOf = (rows: readonly Row[], paths: readonly FieldPath[]): Tuples => {
  const known = tuplesByRows.get(rows) ?? new Map<string, Tuples>();
  tuplesByRows.set(rows, known);
  const name = JSON.stringify(paths);
  const tuples = known.get(name) ?? rows.map((row) => tupleOf(row, paths));
  known.set(name, tuples);
  return tuples;
};

const asPaths = (fields: readonly string[]): FieldPath[] => fields.map((field) => [field]);

const constraintsOf = ({ primaryKey, unique }: EntityContract): Constraint[] => [
  { paths: asPaths(primaryKey), what: 'the primary key' },
  ...unique.map((paths) => ({ paths, what: 'a unique key' })),
];

/** Index of the tuples that the rows of an entity have at some paths. */
export type TupleIndex = {
  tuples(entity: string, paths: readonly FieldPath[]): ReadonlySet<Tuple>;
  /** Returns true if two rows of the entity have the same tuple. */
  isRepeating(entity: string, paths: readonly FieldPath[]): boolean;
};

const indexName = (entity: string, paths: readonly FieldPath[]): string =>
  JSON.stringify([entity, paths]);

/** Indexes rows by the keys and unique lists of their entities. Each index is built when it is first used. */
export const indexRows = (sets: RowSets): TupleIndex => {
  type Index = { tuples: Set<Tuple>; isRepeating: boolean };
  const known = new Map<string, Index>();
  const indexOf = (entity: string, paths: readonly FieldPath[]): Index => {
    const name = indexName(entity, paths);
    const found = known.get(name);
    if (found !== undefined) return found;
    const tuples = new Set<Tuple>();
    let count = 0;
    for (const tuple of tuplesOf(sets.get(entity)?.value ?? [], paths)) {
      if (tuple === undefined) continue;
      tuples.add(tuple);
      count += 1;
    }
    const index = { tuples, isRepeating: tuples.size < count };
    known.set(name, index);
    return index;
  };
  return {
    tuples: (entity, paths) => indexOf(entity, paths).tuples,
    isRepeating: (entity, paths) => indexOf(entity, paths).isRepeating,
  };
};

const describeTuple = (paths: readonly FieldPath[], row: Row | undefined): string =>
  paths.map((path) => `${path.join('.')} ${JSON.stringify(row && valueAt(row, path))}`).join(', ');

const checkRepeats = (
  { place, value: rows }: Placed<Row[]>,
  entity: EntityContract,
  among: TupleIndex,
  before: TupleIndex | undefined,
): void => {
  const refusals = createRowRefusals(place);
  for (const { paths, what } of constraintsOf(entity)) {
    const earlier = before?.tuples(entity.name, paths);
    if (earlier === undefined && !among.isRepeating(entity.name, paths)) continue;
    const seen = new Map<Tuple, number>();
    for (const [index, tuple] of tuplesOf(rows, paths).entries()) {
      if (tuple === undefined) continue;
      const first = seen.get(tuple);
      seen.set(tuple, first ?? index);
      const isInWorld = earlier?.has(tuple) === true;
      if (first === undefined && !isInWorld) continue;
      const where = isInWorld ? "in the world's rows" : `in row ${first}`;
      const message = `${entity.name}, row ${index}: ${what} ${describeTuple(paths, rows[index])} is already taken ${where}`;
      refusals.refuse(place.at(index), 'duplicate_row', message);
      if (refusals.isFull()) return;
    }
  }
};

type Dangling = { index: number; field: string; message: string };

/** Yields the references of an entity's rows whose target is in none of the indexes. */
function* danglingReferences(
  rows: readonly Row[],
  entity: EntityContract,
  model: Model,
  around: readonly TupleIndex[],
): Generator<Dangling> {
  for (const { fields, target } of entity.relationships) {
    const paths = asPaths(fields);
    const key = asPaths(model.entities.get(target)?.primaryKey ?? []);
    const targets = around.map((rowsOf) => rowsOf.tuples(target, key));
    for (const [index, tuple] of tuplesOf(rows, paths).entries()) {
      if (tuple === undefined || targets.some((tuples) => tuples.has(tuple))) continue;
      const message = `${entity.name}, row ${index}: ${describeTuple(paths, rows[index])} refers to ${target}, which has no such row`;
      yield { index, field: fields[0] ?? '', message };
    }
  }
}

const checkReferences = (
  { place, value: rows }: Placed<Row[]>,
  entity: EntityContract,
  model: Model,
  around: readonly TupleIndex[],
): void => {
  const refusals = createRowRefusals(place);
  for (const { index, field, message } of danglingReferences(rows, entity, model, around)) {
    refusals.refuse(place.at(index, field), 'missing_reference', message);
    if (refusals.isFull()) return;
  }
};

/**
 * Refuses rows that repeat the key or unique values of another row, including rows of `world`. Refuses references whose
 * target is neither among the rows nor in `reachable`.
 */
export const checkIntegrity = (
  sets: RowSets,
  model: Model,
  { world, reachable }: { world?: TupleIndex; reachable?: TupleIndex } = {},
): void => {
  const among = indexRows(sets);
  const around = reachable === undefined ? [among] : [among, reachable];
  for (const [name, rows] of sets) {
    const entity = model.entities.get(name);
    if (entity === undefined) continue;
    checkRepeats(rows, entity, among, world);
    checkReferences(rows, entity, model, around);
  }
};

/**
 * Checks rows that replace the world's rows of their entities: the rows themselves, and the references from the world's
 * remaining rows.
 */
export const checkReplacement = (
  place: Place,
  sets: RowSets,
  worldSets: RowSets,
  model: Model,
): void => {
  const kept: RowSets = new Map([...worldSets].filter(([name]) => !sets.has(name)));
  const reachable = indexRows(kept);
  checkIntegrity(sets, model, { reachable });
  const around = [indexRows(sets), reachable];
  for (const [name, { value: rows }] of kept) {
    const entity = model.entities.get(name);
    if (entity === undefined) continue;
    const { value: dangling } = danglingReferences(rows, entity, model, around).next();
    if (dangling === undefined) continue;
    const message = `once the seed has replaced the world's rows, ${dangling.message}`;
    place.refuse('missing_reference', message, `add rows of ${name} to the seed, too`);
  }
};
