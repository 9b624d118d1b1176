/**
 * Looks up the rows that callers' credentials name. The callers are not authenticated yet, so their number is
 * unbounded. All pending names are therefore read together, by one query at a time. Rows are cached for a few seconds,
 * so that most requests cost no query. Names without a row have a separate cache, so that they evict no existing rows.
 */
import { LRUCache } from 'lru-cache';

/** Looks a name up; resolves to undefined if there is no such row. */
export type Find<Row> = (name: string) => Promise<Row | undefined>;

/**
 * Maximum time for which a revoked or changed credential still works, in milliseconds. It is counted from the start of
 * the query that read the credential. Together with the duration of a query in a busy database it stays below the
 * documented 5 s.
 */
const knownMs = 3_000;
/** Maximum time for which a new credential stays unknown if a client used it before it was created, in milliseconds. */
const absentMs = 1_000;
/** Maximum number of entries of each of the two caches. */
const mostKept = 10_000;
/** Maximum number of names that one query looks up. */
const mostTogether = 1_000;

export type LookupOptions<Row> = {
  /** Reads the rows with these names. */
  read(names: readonly string[]): Promise<readonly Row[]>;
  nameOf(row: Row): string;
  /** Pattern of valid names; names that do not match are not looked up. */
  form: RegExp;
  now?: (() => number) | undefined;
};

type Asked<Row> = {
  found: Promise<Row | undefined>;
  settle: PromiseWithResolvers<Row | undefined>;
};

/** Creates a lookup with its caches. */
export const createLookup = <Row extends object>({
  read,
  nameOf,
  form,
  now = () => performance.now(),
}: LookupOptions<Row>): Find<Row> => {
  const forSome = { max: mostKept, ttlResolution: 0, perf: { now } };
  const known = new LRUCache<string, Row>({ ...forSome, ttl: knownMs });
  const absent = new LRUCache<string, true>({ ...forSome, ttl: absentMs });
  /** Pending names, in the order in which they were requested. */
  const asked = new Map<string, Asked<Row>>();
  let isLooking = false;

  const lookTogether = async (): Promise<void> => {
    const together = [...asked].slice(0, mostTogether);
    for (const [name] of together) asked.delete(name);
    const start = now();
    try {
      const rows = await read(together.map(([name]) => name));
      const found = new Map(rows.map((row) => [nameOf(row), row]));
      for (const [name, row] of found) known.set(name, row, { start });
      for (const [name, { settle }] of together) {
        const row = found.get(name);
        if (row === undefined) absent.set(name, true);
        settle.resolve(row);
      }
    } catch (error) {
      for (const [, { settle }] of together) settle.reject(error);
    }
  };

  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    while (asked.size > 0) await lookTogether();
    isLooking = false;
  };

  return async (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    if (!form.test(name) || absent.has(name)) return undefined;
    let one = asked.get(name);
    if (one === undefined) {
      const settle = Promise.withResolvers<Row | undefined>();
      one = { found: settle.promise, settle };
      asked.set(name, one);
    }
    void look();
    return one.found;
  };
};
