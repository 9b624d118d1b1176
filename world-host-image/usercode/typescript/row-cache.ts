/**
 * Row cache of the TypeScript worker: whole entities that are read without a request to the host. Like
 * `svc_env/row_cache.py` for Python, it answers plain reads as the store would, and leaves all other reads to the host.
 */

type Json = { [field: string]: unknown };
type Scalar = string | number | boolean | null;
type Column = 'TEXT' | 'INTEGER' | 'REAL';
type Given = { key: string[]; columns: [string, Column][]; rows: unknown[] };

/** Cache updates in a message; see `withRows` in the host's protocol. */
export type CacheUpdates = {
  drop: string[];
  changed: Record<string, unknown[]>;
  hold: Record<string, Given>;
};

/** Result of a read that the cache cannot answer, so that the host has to. */
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

/** Returns true for a text or a whole number that compares in JavaScript as it does in the store. */
const isExact = (value: unknown): value is string | number =>
  typeof value === 'string' ? value.isWellFormed() : Number.isSafeInteger(value);

const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < mostRows;

const valueAt = (row: Json, field: string): Scalar =>
  Object.hasOwn(row, field) ? ((row[field] ?? null) as Scalar) : null;

/** Returns a value as the store's column contains it, where booleans are 1 and 0. */
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
const placeIn = (list: readonly number[], value: number): number => {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] ?? 0) < value) low = middle + 1;
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

/** Returns all combinations that contain one value of each list. */
const combined = (lists: readonly Scalar[][]): Scalar[][] =>
  lists.reduce<Scalar[][]>(
    (lines, list) => lines.flatMap((line) => list.map((value) => [...line, value])),
    [[]],
  );

/**
 * Compares two values: null comes first, other values follow in ascending order. Texts must be such that UTF-16 and
 * UTF-8 order them alike.
 */
const compare = (a: Scalar, b: Scalar): number => {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  return a < b ? -1 : 1;
};

/** Returns true if the value of a field compares in JavaScript as it does in the store's column. */
const isPlain = (column: Column | undefined, value: Scalar): boolean => {
  if (value === null) return true;
  if (column === 'TEXT') return typeof value === 'string' && isExact(value);
  return typeof value === 'boolean' || (typeof value === 'number' && isExact(value));
};

const valuesOf = (row: Json, fields: readonly string[]): Scalar[] =>
  fields.map((field) => valueAt(row, field));

/** Reads one value of `where`; returns undefined if only the host can compare it. */
const readWanted = (value: unknown): Scalar | Scalar[] | undefined => {
  if (value === null || typeof value === 'boolean' || isExact(value)) return value;
  if (!Array.isArray(value)) return undefined;
  const items: unknown[] = [...value];
  const isKnown = items.every((item) => item === null || isExact(item));
  return isKnown ? [...new Set(items as Scalar[])] : undefined;
};

/** Reads `orderBy`. A name that is not a text becomes the field '', which no entity has. */
const readOrder = (given: unknown): Order => {
  const names: unknown[] = Array.isArray(given) ? [...given] : [given ?? []].flat();
  return names.map((name) =>
    typeof name === 'string'
      ? { field: name.startsWith('-') ? name.slice(1) : name, descends: name.startsWith('-') }
      : { field: '', descends: false },
  );
};

/** Returns true if UTF-16 may order a text differently from the store. */
const isOdd = (value: Scalar): boolean =>
  typeof value === 'string' && /[\ud800-\uffff]/.test(value);

/** Sorts positions by the values of their rows in the fields of an order, then by position. */
const sorted = (keys: ReadonlyMap<number, readonly Scalar[]>, order: Order): number[] =>
  [...keys.keys()].sort((a, b) => {
    for (const [at, { descends }] of order.entries()) {
      const difference = compare(keys.get(a)?.[at] ?? null, keys.get(b)?.[at] ?? null);
      if (difference !== 0) return descends ? -difference : difference;
    }
    return a - b;
  });

/** Cached entity: all its rows, with the indexes and results that earlier reads needed. */
class CachedEntity {
  readonly #primaryKey: string[];
  readonly #columns: ReadonlyMap<string, Column>;
  /** Rows by position, in insertion order, which is also the order of positions. */
  #rows: Map<number, Json>;
  #last: number;
  /** Rows examined so far: true if the row contains no lists or objects. */
  readonly #flat = new Map<number, boolean>();
  /** Fields examined so far: true if the field's values in all rows compare in JavaScript as they do in the store. */
  readonly #plain = new Map<string, boolean>();
  readonly #indexes = new Map<string, { fields: string[]; index: Index }>();
  /** Sorted positions that earlier queries found; emptied by each change. */
  readonly #results = new Map<string, number[]>();

  constructor({ key, columns, rows }: Given) {
    this.#primaryKey = [...key].sort();
    this.#columns = new Map(columns);
    this.#rows = new Map(pairsOf(rows) as [number, Json][]);
    this.#last = Math.max(0, ...[...this.#rows.keys()].slice(-1));
  }

  /** Applies changed rows. The list alternates positions and rows; the row is null if it was deleted. */
  change(changed: readonly unknown[]): void {
    this.#results.clear();
    let isSorted = true;
    for (const [position, row] of pairsOf(changed)) {
      const before = this.#rows.get(position);
      this.#reindex(position, before, row);
      if (row === null) {
        this.#rows.delete(position);
        continue;
      }
      isSorted &&= before !== undefined || position > this.#last;
      this.#last = Math.max(this.#last, position);
      this.#rows.set(position, row);
    }
    if (!isSorted) this.#rows = new Map([...this.#rows].sort(([a], [b]) => a - b)); // a deleted row is back
  }

  get(wanted: unknown): Json | null | typeof ask {
    const key = this.#primaryKey;
    if (!isPlainObject(wanted) || Object.keys(wanted).length !== key.length) return ask;
    for (const field of key) {
      if (!Object.hasOwn(wanted, field) || !isExact(wanted[field]) || !this.#canCompare(field))
        return ask;
    }
    const index = this.#indexOf(key);
    if (index === undefined) return ask;
    const [position] = index.get(keyOf(valuesOf(wanted, key))) ?? [];
    if (position === undefined) return null;
    const row = this.#rows.get(position) as Json;
    // true equals 1 in the index, but is a different key in the store.
    const isSame = key.every((field) => typeof row[field] === typeof wanted[field]);
    return isSame ? this.#copyAt(position) : null;
  }

  query({ where, limit, offset, orderBy }: Json): Json[] | typeof ask {
    const most = limit ?? mostRows;
    const from = offset ?? 0;
    if ((limit ?? null) !== null && !isCount(limit)) return ask;
    if (!isCount(from)) return ask;
    const order = readOrder(orderBy);
    if (!order.every(({ field }) => this.#canCompare(field))) return ask;
    const wanted = this.#readWhere(where);
    if (wanted === undefined) return ask;
    const found = order.length === 0 ? this.#matching(wanted) : this.#ordered(wanted, order);
    if (found === undefined) return ask;
    return found.slice(from, from + Number(most)).map((position) => this.#copyAt(position));
  }

  count(where: unknown): number | typeof ask {
    const wanted = this.#readWhere(where);
    return wanted === undefined ? ask : this.#matching(wanted).length;
  }

  #copyAt(position: number): Json {
    const row = this.#rows.get(position) as Json;
    const known = this.#flat.get(position);
    if (known === undefined) this.#flat.set(position, isFlat(row));
    return (known ?? this.#flat.get(position)) ? { ...row } : (copied(row) as Json);
  }

  #canCompare(field: string): boolean {
    const column = this.#columns.get(field);
    if (column === undefined) return false;
    const known = this.#plain.get(field);
    if (known !== undefined) return known;
    const found = [...this.#rows.values()].every((row) => isPlain(column, valueAt(row, field)));
    this.#plain.set(field, found);
    return found;
  }

  /** Records that only the host can compare a field, and drops the indexes that contain the field. */
  #giveUp(field: string): void {
    this.#plain.set(field, false);
    for (const [name, { fields }] of this.#indexes)
      if (fields.includes(field)) this.#indexes.delete(name);
  }

  /** Returns the index of the given fields, which is built if needed; undefined if there are too many indexes. */
  #indexOf(fields: string[]): Index | undefined {
    const name = JSON.stringify(fields);
    const known = this.#indexes.get(name);
    if (known !== undefined || this.#indexes.size >= mostIndexes) return known?.index;
    const index: Index = new Map();
    for (const [position, row] of this.#rows) add(index, keyOf(valuesOf(row, fields)), position);
    this.#indexes.set(name, { fields, index });
    return index;
  }

  #reindex(position: number, before: Json | undefined, row: Json | null): void {
    this.#flat.delete(position);
    for (const [field, isKnown] of this.#plain) {
      if (isKnown && row !== null && !isPlain(this.#columns.get(field), valueAt(row, field)))
        this.#giveUp(field);
    }
    for (const { fields, index } of this.#indexes.values()) {
      if (before !== undefined) take(index, keyOf(valuesOf(before, fields)), position);
      if (row !== null) add(index, keyOf(valuesOf(row, fields)), position);
    }
  }

  #readWhere(where: unknown): Wanted | undefined {
    const wanted = new Map<string, Scalar | Scalar[]>();
    if (where === undefined || where === null) return wanted;
    if (!isPlainObject(where)) return undefined;
    const fields = Object.keys(where).sort();
    if (fields.length > mostFields) return undefined;
    for (const field of fields) {
      const value = this.#canCompare(field) ? readWanted(where[field]) : undefined;
      if (value === undefined) return undefined;
      wanted.set(field, value);
    }
    return wanted;
  }

  #scan(wanted: Wanted): number[] {
    const sets = [...wanted].map(
      ([field, value]) => [field, new Set([value].flat().map(inColumn))] as const,
    );
    return [...this.#rows].flatMap(([position, row]) =>
      sets.every(([field, values]) => values.has(inColumn(valueAt(row, field)))) ? [position] : [],
    );
  }

  #find(wanted: Wanted): number[] {
    const lists = [...wanted.values()].map((value) => [value].flat());
    const lookups = lists.reduce((product, list) => product * list.length, 1);
    const index = lookups > this.#rows.size ? undefined : this.#indexOf([...wanted.keys()]);
    if (index === undefined) return this.#scan(wanted);
    const found = combined(lists).flatMap((values) => index.get(keyOf(values)) ?? []);
    return lookups === 1 ? found : found.sort((a, b) => a - b);
  }

  #matching(wanted: Wanted): number[] {
    const rows = this.#rows;
    if (wanted.size === 0) return [...rows.keys()];
    const found = this.#find(wanted);
    const flags = [...wanted].filter(([, value]) => typeof value === 'boolean');
    // The index does not distinguish 1 from true.
    return found.filter((position) =>
      flags.every(([field]) => typeof valueAt(rows.get(position) as Json, field) === 'boolean'),
    );
  }

  /** Returns sorted positions; undefined if UTF-16 orders a text differently from the store. */
  #ordered(wanted: Wanted, order: Order): number[] | undefined {
    const name = JSON.stringify([[...wanted], order]);
    const known = this.#results.get(name);
    if (known !== undefined) return known;
    const fields = order.map(({ field }) => field);
    const keys = new Map(
      this.#matching(wanted).map((position) => [
        position,
        valuesOf(this.#rows.get(position) as Json, fields).map(inColumn),
      ]),
    );
    if ([...keys.values()].some((values) => values.some(isOdd))) return undefined;
    const found = sorted(keys, order);
    if (this.#results.size >= mostResults) this.#results.clear();
    this.#results.set(name, found);
    return found;
  }
}

export type RowCache = {
  /** Applies the cache updates of a message. */
  apply(updates: CacheUpdates): void;
  /** Returns the answer to a store operation, or `ask` if the cache cannot answer it. */
  read(operation: string, given: Json): unknown;
  /** Returns the entities that were read from this cache since the last call. */
  takeReads(): string[];
};

const readIn = (entity: CachedEntity, operation: string, given: Json): unknown => {
  switch (operation) {
    case 'get':
      return entity.get(given.key);
    case 'query':
      return entity.query(given);
    case 'count':
      return entity.count(given.where);
    default:
      return ask;
  }
};

const members = new Set(['entity', 'key', 'where', 'limit', 'offset', 'orderBy']);

export const createRowCache = (): RowCache => {
  const entities = new Map<string, CachedEntity>();
  const reads = new Set<string>();
  return {
    apply({ drop, changed, hold }) {
      for (const name of drop) entities.delete(name);
      for (const [name, rows] of Object.entries(changed)) entities.get(name)?.change(rows);
      for (const [name, given] of Object.entries(hold)) entities.set(name, new CachedEntity(given));
    },
    read(operation, given) {
      const entity = typeof given.entity === 'string' ? entities.get(given.entity) : undefined;
      if (entity === undefined || !Object.keys(given).every((name) => members.has(name)))
        return ask;
      const answer = readIn(entity, operation, given);
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
