/**
 * In which order the rows of a query stand, kept for as long as no row of their entity changes. A list is asked for page
 * by page, and a page costs the reading and sorting of all its rows, where it is looked for among them; with the
 * order known it costs its own rows.
 *
 * Nothing is kept of a query that is asked once: its order is looked for when it is asked again.
 */
import type { CatalogEntity } from '../tables/catalog.ts';
import type { Statements } from '../tables/statements.ts';

/** A query without its page. */
export type OrderedQuery = {
  entity: CatalogEntity;
  /** The statement from its conditions on, with its order. */
  tail: string;
  values: readonly (string | number)[];
};

/** How far an entity's rows have come: equal versions, equal rows. */
export type EntityVersions = { version(entity: string): number };

export type Orders = {
  /** Payload texts of a page; undefined where the order is not known, and the rows are to be looked for. */
  page(query: OrderedQuery, limit: number, offset: number): string[] | undefined;
};

/** Queries that are kept, rows of one of them, and characters of what tells one from another. */
const mostKept = 16;
const mostRows = 10_000;
const mostChars = 16_384;

type Kept = {
  version: number;
  /** Undefined: not looked for yet. */
  positions: number[] | 'too many' | undefined;
};

/** Makes it; nothing is known yet. */
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
    // As objects: a copy of rows (copying.ts) reads by the same statement, which is kept by its text.
    const text = `SELECT payload FROM ${entity.table} WHERE ${entity.position} = ?`;
    const statement = prepare(text);
    return positions.map((at) => statement.get(at)?.payload as string);
  };

  /** What is kept of a query, now the last one that was asked. */
  const lookUp = (key: string, version: number): { entry: Kept; isKnown: boolean } => {
    const known = kept.get(key);
    kept.delete(key);
    const isKnown = known?.version === version;
    // What was too much before the last change is not looked for after each.
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
