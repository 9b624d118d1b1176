/**
 * Row cache of the TypeScript worker: whole entities, read without a request to the host. Like `svc_env/held.py` for
 * Python, it answers plain reads as the store would, and leaves all other reads to the host.
 */

type Json = { [field: string]: unknown };
type Scalar = string | number | boolean | null;
type Given = { key: string[]; columns: [string, 'TEXT' | 'INTEGER' | 'REAL'][]; rows: unknown[] };

/** Cache updates in a message, see `withRows` of the host's protocol. */
export type Told = {
  drop: string[];
  changed: Record<string, unknown[]>;
  hold: Record<string, Given>;
};

/** Result of a read that the cache cannot answer, so that the host must. */
export const ask = Symbol('ask');

const mostRows = 2 ** 31;
/** Maximum number of fields that the store accepts in one `where`. */
const mostFields = 100;
const mostIndexes = 8;
const mostResults = 32;

type Index = Map<unknown, number[]>;
type Wanted = ReadonlyMap<string, Scalar | Scalar[]>;
type Order = { field: string; descends: boolean }[];

const isPlainObject = (value: unknown): value is Json => {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false;
  return Object.getPrototypeOf(value) === Object.prototype;
};

/** Returns true for a text or a whole number that compares the same here and in the store. */
const isExact = (value: unknown): value is string | number =>
  typeof value === 'string' ? value.isWellFormed() : Number.isSafeInteger(value);

const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < mostRows;

const valueAt = (row: Json, field: string): Scalar =>
  Object.hasOwn(row, field) ? ((row[field] ?? null) as Scalar) : null;

/** Returns a value as the store's column has it, where booleans are 1 and 0. */
const inColumn = (value: Scalar): Scalar => (typeof value === 'boolean' ? Number(value) : value);

const keyOf = (values: readonly Scalar[]): unknown =>
  values.length === 1 ? inColumn(values[0] ?? null) : JSON.stringify(values.map(inColumn));

const copied = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copied);
  // By entries, because a member named `__proto__` must be copied like any other.
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copied(member)]));
};

const isFlat = (row: Json): boolean =>
  Object.values(row).every((value) => typeof value !== 'object' || value === null);

const pairsOf = (list: readonly unknown[]): [number, Json | null][] =>
  Array.from({ length: list.length / 2 }, (_, at) => [
    list[2 * at] as number,
    list[2 * at + 1] as Json | null,
  ]);

/** Returns the index at which a value belongs in a sorted list. */
const placeIn = (sorted: readonly number[], value: number): number => {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
};

const add = (index: Index, key: unknown, position: number): void => {
  const positions = index.get(key);
  if (positions === undefined) index.set(key, [position]);
  else positions.splice(placeIn(positions, position), 0, position);
};

const take = (index: Index, key: unknown, position: number): void => {
  const positions = index.get(key) ?? [];
  positions.splice(placeIn(positions, position), 1);
  if (positions.length === 0) index.delete(key);
};

/** Returns all combinations that take one value of each list. */
const combined = (lists: readonly Scalar[][]): Scalar[][] =>
  lists.reduce<Scalar[][]>(
    (ways, list) => ways.flatMap((way) => list.map((value) => [...way, value])),
    [[]],
  );

/** Compares values: nulls first, then by value. Texts must be such that UTF-16 and UTF-8 order them alike. */
const compare = (a: Scalar, b: Scalar): number => {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  return a < b ? -1 : 1;
};

const holdEntity = ({ key, columns: given, rows: list }: Given) => {
  const primaryKey = [...key].sort();
  const columns = new Map(given);
  /** Rows in the order of insertion, which is that of positions. */
  let rows = new Map(pairsOf(list) as [number, Json][]);
  let last = Math.max(0, ...[...rows.keys()].slice(-1));
  /** Rows examined so far: true for a row without lists and objects. */
  const flat = new Map<number, boolean>();
  /** Fields examined so far: true if the values of all rows compare here as in the store. */
  const plain = new Map<string, boolean>();
  const indexes = new Map<string, { fields: string[]; index: Index }>();
  const results = new Map<string, number[]>();

  const copyAt = (position: number): Json => {
    const row = rows.get(position) as Json;
    const known = flat.get(position);
    if (known === undefined) flat.set(position, isFlat(row));
    return (known ?? flat.get(position)) ? { ...row } : (copied(row) as Json);
  };

  const isPlain = (field: string, row: Json): boolean => {
    const value = valueAt(row, field);
    if (value === null) return true;
    if (columns.get(field) === 'TEXT') return typeof value === 'string' && isExact(value);
    return typeof value === 'boolean' || (typeof value === 'number' && isExact(value));
  };

  const canCompare = (field: string): boolean => {
    if (!columns.has(field)) return false;
    const known = plain.get(field);
    if (known !== undefined) return known;
    const found = [...rows.values()].every((row) => isPlain(field, row));
    plain.set(field, found);
    return found;
  };

  const giveUp = (field: string): void => {
    plain.set(field, false);
    for (const [name, { fields }] of indexes) if (fields.includes(field)) indexes.delete(name);
  };

  const valuesOf = (row: Json, fields: readonly string[]): Scalar[] =>
    fields.map((field) => valueAt(row, field));

  const indexOf = (fields: string[]): Index | undefined => {
    const name = JSON.stringify(fields);
    const known = indexes.get(name);
    if (known !== undefined || indexes.size >= mostIndexes) return known?.index;
    const index: Index = new Map();
    for (const [position, row] of rows) add(index, keyOf(valuesOf(row, fields)), position);
    indexes.set(name, { fields, index });
    return index;
  };

  const change = (told: readonly unknown[]): void => {
    results.clear();
    let isSorted = true;
    for (const [position, row] of pairsOf(told)) {
      const before = rows.get(position);
      flat.delete(position);
      for (const [field, isKnown] of plain) {
        if (isKnown && row !== null && !isPlain(field, row)) giveUp(field);
      }
      for (const { fields, index } of indexes.values()) {
        if (before !== undefined) take(index, keyOf(valuesOf(before, fields)), position);
        if (row !== null) add(index, keyOf(valuesOf(row, fields)), position);
      }
      if (row === null) {
        rows.delete(position);
        continue;
      }
      isSorted &&= before !== undefined || position > last;
      last = Math.max(last, position);
      rows.set(position, row);
    }
    if (!isSorted) rows = new Map([...rows].sort(([a], [b]) => a - b)); // a deleted row is back
  };

  const get = (wanted: unknown): Json | null | typeof ask => {
    if (!isPlainObject(wanted) || Object.keys(wanted).length !== primaryKey.length) return ask;
    for (const field of primaryKey) {
      if (!Object.hasOwn(wanted, field) || !isExact(wanted[field]) || !canCompare(field))
        return ask;
    }
    const index = indexOf(primaryKey);
    if (index === undefined) return ask;
    const [position] = index.get(keyOf(valuesOf(wanted, primaryKey))) ?? [];
    if (position === undefined) return null;
    const row = rows.get(position) as Json;
    // true is 1 in the index, and another key in the store.
    const isSame = primaryKey.every((field) => typeof row[field] === typeof wanted[field]);
    return isSame ? copyAt(position) : null;
  };

  const readOrder = (given: unknown): Order | undefined => {
    const names: unknown[] = Array.isArray(given) ? [...given] : [given ?? []].flat();
    const order = names.map((name) =>
      typeof name === 'string'
        ? { field: name.startsWith('-') ? name.slice(1) : name, descends: name.startsWith('-') }
        : { field: '', descends: false },
    );
    return order.every(({ field }) => canCompare(field)) ? order : undefined;
  };

  const readWanted = (value: unknown): Scalar | Scalar[] | undefined => {
    if (value === null || typeof value === 'boolean' || isExact(value)) return value;
    if (!Array.isArray(value)) return undefined;
    const items: unknown[] = [...value];
    const isKnown = items.every((item) => item === null || isExact(item));
    return isKnown ? [...new Set(items as Scalar[])] : undefined;
  };

  const readWhere = (where: unknown): Wanted | undefined => {
    const wanted = new Map<string, Scalar | Scalar[]>();
    if (where === undefined || where === null) return wanted;
    if (!isPlainObject(where)) return undefined;
    const fields = Object.keys(where).sort();
    if (fields.length > mostFields) return undefined;
    for (const field of fields) {
      const value = canCompare(field) ? readWanted(where[field]) : undefined;
      if (value === undefined) return undefined;
      wanted.set(field, value);
    }
    return wanted;
  };

  const scan = (wanted: Wanted): number[] => {
    const sets = [...wanted].map(
      ([field, value]) => [field, new Set([value].flat().map(inColumn))] as const,
    );
    return [...rows].flatMap(([position, row]) =>
      sets.every(([field, values]) => values.has(inColumn(valueAt(row, field)))) ? [position] : [],
    );
  };

  const find = (wanted: Wanted): number[] => {
    const lists = [...wanted.values()].map((value) => [value].flat());
    const ways = lists.reduce((product, list) => product * list.length, 1);
    const index = ways > rows.size ? undefined : indexOf([...wanted.keys()]);
    if (index === undefined) return scan(wanted);
    const found = combined(lists).flatMap((values) => index.get(keyOf(values)) ?? []);
    return ways === 1 ? found : found.sort((a, b) => a - b);
  };

  const matching = (wanted: Wanted): number[] => {
    if (wanted.size === 0) return [...rows.keys()];
    const found = find(wanted);
    const flags = [...wanted].filter(([, value]) => typeof value === 'boolean');
    // The index does not distinguish 1 from true.
    return found.filter((position) =>
      flags.every(([field]) => typeof valueAt(rows.get(position) as Json, field) === 'boolean'),
    );
  };

  /** Returns sorted positions; undefined if UTF-16 orders a text differently from the store. */
  const ordered = (wanted: Wanted, order: Order): number[] | undefined => {
    const name = JSON.stringify([[...wanted], order]);
    const known = results.get(name);
    if (known !== undefined) return known;
    const keys = new Map(
      matching(wanted).map((position) => [
        position,
        valuesOf(
          rows.get(position) as Json,
          order.map(({ field }) => field),
        ).map(inColumn),
      ]),
    );
    const isOdd = (value: Scalar): boolean =>
      typeof value === 'string' && /[\ud800-\uffff]/.test(value);
    if ([...keys.values()].some((values) => values.some(isOdd))) return undefined;
    const found = [...keys.keys()].sort((a, b) => {
      for (const [at, { descends }] of order.entries()) {
        const difference = compare(keys.get(a)?.[at] ?? null, keys.get(b)?.[at] ?? null);
        if (difference !== 0) return descends ? -difference : difference;
      }
      return a - b;
    });
    if (results.size >= mostResults) results.clear();
    results.set(name, found);
    return found;
  };

  const query = ({ where, limit, offset, orderBy }: Json): Json[] | typeof ask => {
    const most = limit ?? mostRows;
    const from = offset ?? 0;
    if ((limit ?? null) !== null && !isCount(limit)) return ask;
    if (!isCount(from)) return ask;
    const order = readOrder(orderBy);
    const wanted = readWhere(where);
    if (order === undefined || wanted === undefined) return ask;
    const found = order.length === 0 ? matching(wanted) : ordered(wanted, order);
    return found === undefined ? ask : found.slice(from, from + Number(most)).map(copyAt);
  };

  const count = (where: unknown): number | typeof ask => {
    const wanted = readWhere(where);
    return wanted === undefined ? ask : matching(wanted).length;
  };

  return { change, get, query, count };
};

export type HeldRows = {
  /** Applies the updates of a message. */
  apply(told: Told): void;
  /** Returns the answer to a store operation, or `ask`. */
  read(operation: string, given: Json): unknown;
  /** Returns the entities that were read here since the last call. */
  takeReads(): string[];
};

type Entity = ReturnType<typeof holdEntity>;

const readIn = (held: Entity, operation: string, given: Json): unknown => {
  switch (operation) {
    case 'get':
      return held.get(given.key);
    case 'query':
      return held.query(given);
    case 'count':
      return held.count(given.where);
    default:
      return ask;
  }
};

const members = new Set(['entity', 'key', 'where', 'limit', 'offset', 'orderBy']);

export const createHeldRows = (): HeldRows => {
  const entities = new Map<string, Entity>();
  const reads = new Set<string>();
  return {
    apply({ drop, changed, hold }) {
      for (const name of drop) entities.delete(name);
      for (const [name, rows] of Object.entries(changed)) entities.get(name)?.change(rows);
      for (const [name, given] of Object.entries(hold)) entities.set(name, holdEntity(given));
    },
    read(operation, given) {
      const held = typeof given.entity === 'string' ? entities.get(given.entity) : undefined;
      if (held === undefined || !Object.keys(given).every((name) => members.has(name))) return ask;
      const answer = readIn(held, operation, given);
      if (answer !== ask) reads.add(String(given.entity));
      return answer;
    },
    takeReads() {
      const taken = [...reads].sort();
      reads.clear();
      return taken;
    },
  };
};
