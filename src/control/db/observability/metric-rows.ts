/** Metrics, read: groups of rows, and what is aggregated of each. */
import { type Database, type Queryable, statement } from '../core/database.ts';
import { type Bind, type Condition, conditioned } from '../core/where.ts';

const momentStatement = statement(
  'see_one_moment',
  'set transaction isolation level repeatable read, read only',
);

/** Of a question, for each sort and each hash of its statements. */
const memoryStatement = statement('allow_memory', `select set_config('work_mem', '32MB', true)`);

/** Reads what belongs together as it was at one moment, with memory for groups of very many rows. */
export const seeingOneMoment = <Value>(
  db: Database,
  read: (tx: Queryable) => Promise<Value>,
): Promise<Value> =>
  db.transaction(async (tx) => {
    await tx.query(momentStatement, []);
    await tx.query(memoryStatement, []);
    return read(tx);
  });

/** What a statement over groups consists of. All of it is SQL of ours but for what conditions bind. */
export type Grouping = {
  /** May bind values of its own. */
  from: (bind: Bind) => string;
  conditions: readonly Condition[];
  /** What rows are grouped by, in order. */
  groups: readonly string[];
  /** What is told of each group; a group's own value by its place, as `g0`. */
  shown: readonly string[];
  aggregates: readonly string[];
  /** By `c<place>` of what is shown and aggregated, in this order. */
  order: readonly { place: number; isDescending: boolean }[];
  limit: number;
};

/** A row's values, in the order of what is shown and aggregated. */
export type GroupRow = readonly unknown[];

const orderText = ({ place, isDescending }: Grouping['order'][number]): string =>
  `${place + 1} ${isDescending ? 'desc nulls last' : 'asc nulls last'}`;

/** Reads groups. */
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

/** What a histogram is made of. */
export type Spread = Pick<Grouping, 'from' | 'conditions' | 'groups' | 'shown' | 'limit'> & {
  /** The number that is spread. */
  sql: string;
  bins: number;
};

/** How many rows of a group are in one bin: what is shown of it, its least and greatest number, the bin from 1, the count. */
export type SpreadRow = {
  shown: readonly unknown[];
  low: number;
  high: number;
  bin: number;
  count: number;
};

/** Reads how numbers spread over bins of the same width, from the least to the greatest of each group. */
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
