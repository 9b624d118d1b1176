/**
 * Finds what callers name before they have shown who they are. Strangers can ask as often as they like: all that are
 * asked for at once are looked up together, by one query at a time. What was found is known for a moment, so that a
 * request costs no query; what there is not is remembered, too, and pushes out none of what there is.
 */
import { LRUCache } from 'lru-cache';

/** What has this name; undefined where there is none. */
export type Find<Row> = (name: string) => Promise<Row | undefined>;

/**
 * What was revoked or changed works at most so much longer, counted from the query that found it: with the time of
 * a query in a busy database, less than the 5 s that are promised.
 */
const knownMs = 3_000;
/** Something new that was asked for before it was made works so much later. */
const absentMs = 1_000;
/** Of each kind. */
const mostKept = 10_000;
/** Looked up by one query. */
const mostTogether = 1_000;

export type LookupOptions<Row> = {
  /** Reads what has these names. */
  read(names: readonly string[]): Promise<readonly Row[]>;
  nameOf(row: Row): string;
  /** What a name can look like; others are not looked up. */
  form: RegExp;
  now?: (() => number) | undefined;
};

type Asked<Row> = {
  found: Promise<Row | undefined>;
  settle: PromiseWithResolvers<Row | undefined>;
};

/** Makes it. */
export const createLookup = <Row extends object>({
  read,
  nameOf,
  form,
  now = () => performance.now(),
}: LookupOptions<Row>): Find<Row> => {
  const forSome = { max: mostKept, ttlResolution: 0, perf: { now } };
  const known = new LRUCache<string, Row>({ ...forSome, ttl: knownMs });
  const absent = new LRUCache<string, true>({ ...forSome, ttl: absentMs });
  /** In the order in which they were asked for. */
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
