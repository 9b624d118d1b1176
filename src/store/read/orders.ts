/**
 * Caches the order of a query's rows for as long as no row of the entity changes. Clients read a list page by page.
 * Without the cache each page costs reading and sorting all rows; with the order known it costs its own rows.
 *
 * The first run of a query caches nothing: its order is computed when it runs again.
 */
import type { CatalogEntity } from '../tables/catalog.ts';
import type { Statements } from '../tables/statements.ts';

/** A query without its limit and offset. */
export type OrderedQuery = {
  entity: CatalogEntity;
  /** SQL of the query from its conditions on, with its order. */
  tail: string;
  values: readonly (string | number)[];
};

/** Versions of entities. If the version of an entity is the same as before, its rows are the same. */
export type EntityVersions = { version(entity: string): number };

export type Orders = {
  /**
   * Returns the payload texts of a page; undefined if the order is not cached, and the caller has to query the rows.
   */
  page(query: OrderedQuery, limit: number, offset: number): string[] | undefined;
};

/**
 * Maximum number of cached queries, of rows of one cached query, and of characters of the key that identifies a query.
 */
const mostKept = 16;
const mostRows = 10_000;
const mostChars = 16_384;

type Kept = {
  version: number;
  /** Positions of the rows in the order of the query; undefined if they were not computed yet. */
  positions: number[] | 'too many' | undefined;
};

/** Creates an empty cache. */
export const createOrders = (prepare: Statements, versions: EntityVersions): Orders => {
  const kept = new Map<string, Kept>();

  const find = ({ entity, tail, values }: OrderedQuery): number[] | 'too many' => {
    const text = `SELECT ${entity.position} FROM ${entity.table} ${tail} LIMIT ${mostRows + 1}`;
    const statement = prepare(text);
    statement.setReturnArrays(true);
    const found = statement.all(...values) as unknown as [number][];
    return found.length > mostRows ? 'too many' : found.map(([position]) => position);
  };

  const read = ({ entity }: OrderedQuery, positions: readonly number[]): string[] => {
    // Read as objects: copying.ts uses the same statement, which is cached by its text.
    const text = `SELECT payload FROM ${entity.table} WHERE ${entity.position} = ?`;
    const statement = prepare(text);
    return positions.map((at) => statement.get(at)?.payload as string);
  };

  /** Returns the cache entry of a query and moves it to the end, as the most recently used. */
  const lookUp = (key: string, version: number): { entry: Kept; isKnown: boolean } => {
    const known = kept.get(key);
    kept.delete(key);
    const isKnown = known?.version === version;
    // An order that was too long before the last change is not computed again after each change.
    const isTooMany = known?.positions === 'too many';
    const entry = isKnown ? known : { version, positions: isTooMany ? known.positions : undefined };
    kept.set(key, entry);
    for (const [oldest] of kept) {
      if (kept.size <= mostKept) break;
      kept.delete(oldest);
    }
    return { entry, isKnown };
  };

  return {
    page(query, limit, offset) {
      const { entity, tail, values } = query;
      const key = `${entity.name} ${tail} ${JSON.stringify(values)}`;
      if (key.length > mostChars) return undefined;
      const { entry, isKnown } = lookUp(key, versions.version(entity.name));
      if (!isKnown) return undefined;
      const positions = entry.positions ?? find(query);
      entry.positions = positions;
      if (positions === 'too many') return undefined;
      return read(query, positions.slice(offset, offset + limit));
    },
  };
};
