/** Queries for metrics: they group rows and compute aggregates for each group. */
import { type Database, type Queryable, statement } from '../core/database.ts';
import { type Bind, type Condition, conditioned } from '../core/where.ts';

const momentStatement = statement(
  'see_one_moment',
  'set transaction isolation level repeatable read, read only',
);

/** Sets the memory for each sort and each hash in the statements of a query. */
const memoryStatement = statement('allow_memory', `select set_config('work_mem', '32MB', true)`);

/** Runs reads in one snapshot (repeatable read), with enough memory to group very many rows. */
export const seeingOneMoment = <Value>(
  db: Database,
  read: (tx: Queryable) => Promise<Value>,
): Promise<Value> =>
  db.transaction(async (tx) => {
    await tx.query(momentStatement, []);
    await tx.query(memoryStatement, []);
    return read(tx);
  });

/**
 * Parts of a statement that groups rows. All parts are SQL of this program; values of clients are bound by conditions.
 */
export type Grouping = {
  /** Builds the from clause; it may bind values as well. */
  from: (bind: Bind) => string;
  conditions: readonly Condition[];
  /** Expressions by which rows are grouped, in order. */
  groups: readonly string[];
  /** Expressions that are shown for each group. They refer to the values of the group by position, as `g0`. */
  shown: readonly string[];
  aggregates: readonly string[];
  /** Sort order, by positions in the list of `shown` followed by `aggregates`. */
  order: readonly { place: number; isDescending: boolean }[];
  limit: number;
};

/** Values of a result row, in the order of `shown` and then `aggregates`. */
export type GroupRow = readonly unknown[];

const orderText = ({ place, isDescending }: Grouping['order'][number]): string =>
  `${place + 1} ${isDescending ? 'desc nulls last' : 'asc nulls last'}`;

/** Reads the groups with their aggregates. */
export const readGroups = async (
  db: Queryable,
  { from, conditions, groups, shown, aggregates, order, limit }: Grouping,
): Promise<GroupRow[]> => {
  const columns = [...shown, ...aggregates].map((sql, place) => `${sql} as c${place}`);
  const { statement, values } = conditioned(
    'read_metrics',
    (where, bind) =>
      `select ${columns.join(', ')} from ${from(bind)} where ${where}
        ${groups.length === 0 ? '' : `group by ${groups.join(', ')}`}
        ${order.length === 0 ? '' : `order by ${order.map(orderText).join(', ')}`} limit ${limit}`,
    conditions,
  );
  const rows = await db.query<Record<string, unknown>>(statement, values);
  return rows.map((row) => columns.map((_, place) => row[`c${place}`]));
};

/** Parts of a statement that computes histograms. */
export type Spread = Pick<Grouping, 'from' | 'conditions' | 'groups' | 'shown' | 'limit'> & {
  /** SQL of the number whose distribution the histogram shows. */
  sql: string;
  bins: number;
};

/**
 * Bin of the histogram of a group: the shown values of the group, its smallest and largest number, the number of the
 * bin (from 1), and the count of rows in the bin.
 */
export type SpreadRow = {
  shown: readonly unknown[];
  low: number;
  high: number;
  bin: number;
  count: number;
};

/** Reads histograms. The bins have equal widths, from the smallest to the largest number of each group. */
export const readSpread = async (
  db: Queryable,
  { from, conditions, groups, shown, limit, sql, bins }: Spread,
): Promise<SpreadRow[]> => {
  const own = shown.map((one, place) => `${one} as c${place}`);
  const names = shown.map((_, place) => `c${place}`);
  const partition = groups.length === 0 ? '' : `partition by ${groups.join(', ')}`;
  const { statement, values } = conditioned(
    'read_metric_spread',
    (where, bind) =>
      `with spread as (
         select ${[...own, `(${sql})::float8 as x`].join(', ')},
                min((${sql})::float8) over w as low, max((${sql})::float8) over w as high
           from ${from(bind)} where ${where} and (${sql}) is not null window w as (${partition})
       )
       select ${[...names, 'low', 'high'].join(', ')},
              case when high > low then least(width_bucket(x, low, high, ${bins}), ${bins}) else 1 end as bin,
              count(*)::float8 as count
         from spread group by ${[...names, 'low', 'high', 'bin'].join(', ')} order by bin limit ${limit}`,
    conditions,
  );
  const rows = await db.query<Omit<SpreadRow, 'shown'> & Record<string, unknown>>(
    statement,
    values,
  );
  return rows.map((row) => ({
    shown: names.map((name) => row[name]),
    ...{ low: row.low, high: row.high, bin: row.bin, count: row.count },
  }));
};
