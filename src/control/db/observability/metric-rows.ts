/** Queries of metrics: groups of rows, and the aggregates of each group. */
import { type Database, type Queryable, statement } from '../core/database.ts';
import { type Bind, type Condition, conditioned } from '../core/where.ts';

const momentStatement = statement(
  'see_one_moment',
  'set transaction isolation level repeatable read, read only',
);

/** Memory for each sort and each hash of the statements of one query. */
const memoryStatement = statement('allow_memory', `select set_config('work_mem', '32MB', true)`);

/** Runs reads in one snapshot (repeatable read), with memory for groups of very many rows. */
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
 * Parts of a statement that groups rows. All of it is SQL of this program; values of clients are bound by conditions.
 */
export type Grouping = {
  /** Builds the from clause; it may bind values of its own. */
  from: (bind: Bind) => string;
  conditions: readonly Condition[];
  /** Expressions that rows are grouped by, in order. */
  groups: readonly string[];
  /** Expressions shown for each group; they refer to the group's own values by position, as `g0`. */
  shown: readonly string[];
  aggregates: readonly string[];
  /** Sort order, by position among `shown` and `aggregates` together. */
  order: readonly { place: number; isDescending: boolean }[];
  limit: number;
};

/** Values of a row, in the order of `shown` and `aggregates`. */
export type GroupRow = readonly unknown[];

const orderText = ({ place, isDescending }: Grouping['order'][number]): string =>
  `${place + 1} ${isDescending ? 'desc nulls last' : 'asc nulls last'}`;

/** Reads the groups. */
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

/** Parts of a histogram statement. */
export type Spread = Pick<Grouping, 'from' | 'conditions' | 'groups' | 'shown' | 'limit'> & {
  /** Number that the histogram counts, as SQL. */
  sql: string;
  bins: number;
};

/**
 * One bin of the histogram of a group: the group's shown values, its least and greatest number, the bin's number from
 * 1, and its count of rows.
 */
export type SpreadRow = {
  shown: readonly unknown[];
  low: number;
  high: number;
  bin: number;
  count: number;
};

/** Reads histograms, with bins of equal width from the least to the greatest number of each group. */
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
