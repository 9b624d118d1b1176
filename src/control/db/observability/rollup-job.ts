/**
 * Builds the daily rollups (daily-rollups.ts), one day at a time, once nothing has been written to the day for a while.
 * Each rollup stores the day's change counter (`touches`), which is read in the same snapshot as the rows. A later
 * write raises the counter. So a rollup that is out of date is ignored and never gives a wrong result.
 */
import type { Database, Queryable } from '../core/database.ts';
import { replannedStatement, statement } from '../core/database.ts';
import { breakdowns, rollupColumns, rollupSums } from './daily-rollups.ts';
import { hourSums, hoursBreakdown } from './hourly-rollups.ts';
import { bucketOf, latencyOf } from './latency-sketch.ts';

/** Conditions under which the rollup of a day is built. */
export type RollupRules = {
  /** Time without writes after which the rollups of a day are built, in seconds. */
  restSeconds: number;
  /** Minimum number of observations. For a day with fewer, reading the rows is as fast. */
  leastObservations: number;
  /** Maximum number of rollup rows for each observation. A breakdown with more rows is not stored. */
  mostShare: number;
};

/** Maximum number of rollup rows of a day. A breakdown with more rows is not stored. */
const mostRows = 100_000;

/**
 * Time limit for the rollup of one day, in seconds. A day may be large. No request waits for a rollup, and only one
 * runs at a time, so it may take more memory than a query.
 */
const rollupSeconds = 300;
const rollupMemory = '64MB';

const lockStatement = statement(
  'lock_day_rolls',
  `select pg_try_advisory_xact_lock(hashtext('day rolls')) as "isHeld"`,
);
const timeStatement = statement(
  'allow_day_roll',
  `select set_config('statement_timeout', '${rollupSeconds}s', true), set_config('work_mem', '${rollupMemory}', true)`,
);

const findStatement = statement(
  'find_open_day',
  `select project_id as "projectId", day::text as day from day_marks where not is_settled
    group by project_id, day having max(touched_at) <= now() - make_interval(secs => :restSeconds)
    order by max(touched_at) limit 1`,
);

const sizeStatement = statement(
  'measure_day',
  `select coalesce(sum(observations), 0)::float8 as found from daily_usage
    where project_id = :projectId and day = :day::date and environment is not null`,
);

const settleStatement = statement(
  'settle_day',
  `update day_marks m set is_settled = true from (
     select project_id, day, slot from day_marks
      where project_id = :projectId and day = :day::date and not is_settled
        and touched_at <= now() - make_interval(secs => :restSeconds)
      order by slot for update skip locked) held
    where (m.project_id, m.day, m.slot) = (held.project_id, held.day, held.slot)`,
);

const dropStatement = statement(
  'drop_day_cells',
  `with gone as (delete from day_rolls where project_id = :projectId and day = :day::date),
        hours as (delete from day_hours where project_id = :projectId and day = :day::date)
   delete from day_cells where project_id = :projectId and day = :day::date`,
);

const setsOf = breakdowns
  .map(({ columns, isSketched }) => `(${[...columns, ...(isSketched ? ['bucket'] : [])].join()})`)
  .join(', ');

/**
 * SQL for the name of the breakdown, derived from the column that only this breakdown has. The breakdown without such a
 * column is the default.
 */
const named = `case when grouping(user_id) = 0 then 'user' when grouping(hour) = 0 then 'hour'
  when grouping(name) = 0 then 'name' else 'model' end`;

const columns = rollupColumns.join(', ');
const sum = (name: string): string => `sum(${name}) as ${name}`;
const sums = rollupSums.map(sum).join(', ');
const nothing = hourSums.map(() => '0').join(', ');
/** Returns the SQL for the maximum number of rollup rows of a breakdown with this number of observations. */
const mostOf = (observations: string): string =>
  `least(${mostRows}, :mostShare::float8 * ${observations})`;

/** Builds all rollups of a day with one statement, so that they are all based on the same snapshot. */
const rollupStatement = replannedStatement(
  'roll_day',
  `with observed as (
     select extract(hour from o.began_at at time zone 'utc')::smallint as hour, o.name, o.type,
            coalesce(o.level, 'DEFAULT') as level, coalesce(o.environment, 'default') as environment, o.model, t.user_id,
            o.trace_key, t.name as trace_name, coalesce(t.environment, 'default') as trace_environment,
            ${rollupSums.map((name) => `coalesce(o.${name}, 0)::float8 as ${name}`).join(', ')}, ${latencyOf} as latency
       from observations o left join traces t on t.key = o.trace_key
      where o.project_id = :projectId and o.began_at >= :from::timestamptz and o.began_at < :to::timestamptz
   ), bucketed as (
     select *, ${bucketOf('latency')} as bucket from observed
   ), fine as (
     select ${named} as breakdown, ${columns}, bucket, count(*) as observations, ${sums}, count(latency) as latencies,
            sum(latency) as latency_sum, min(latency) as latency_least, max(latency) as latency_most
       from bucketed group by grouping sets (${setsOf})
   ), cells as (
     select breakdown, ${columns}, ${sum('observations')}, ${sums}, ${sum('latencies')}, ${sum('latency_sum')},
            min(latency_least) as latency_least, max(latency_most) as latency_most,
            array_agg(bucket order by bucket) filter (where bucket is not null) as buckets,
            array_agg(observations::integer order by bucket) filter (where bucket is not null) as bucket_counts
       from fine group by breakdown, ${columns}
   ), pairs as (
     select trace_name, trace_environment, model, min(hour) as first_hour, max(hour) as last_hour
       from observed group by trace_name, trace_environment, model, trace_key
   ), parts as (
     select hour, trace_name, trace_environment, model, count(*) as observations, ${hourSums.map(sum).join(', ')},
            0 as begun, 0 as ended from observed group by 1, 2, 3, 4
     union all
     select first_hour, trace_name, trace_environment, model, 0, ${nothing}, count(*), 0 from pairs group by 1, 2, 3, 4
     union all
     select last_hour, trace_name, trace_environment, model, 0, ${nothing}, 0, count(*) from pairs group by 1, 2, 3, 4
   ), hours as (
     select hour, trace_name, trace_environment, model, ${['observations', ...hourSums, 'begun', 'ended'].map(sum).join(', ')}
       from parts group by 1, 2, 3, 4
   ), kept as (
     select breakdown from cells group by breakdown having count(*) <= ${mostOf('sum(observations)')}
     union all
     select '${hoursBreakdown}' from hours having count(*) <= ${mostOf('sum(observations)')}
   ), made_hours as (
     insert into day_hours (project_id, day, hour, trace_name, environment, model, observations, ${hourSums.join(', ')},
                            traces_begun, traces_ended)
     select :projectId, :day::date, hour, trace_name, trace_environment, model, observations, ${hourSums.join(', ')},
            begun, ended
       from hours where exists (select from kept where breakdown = '${hoursBreakdown}')
   ), made as (
     insert into day_cells (project_id, day, breakdown, ${columns}, observations, ${rollupSums.join(', ')}, latencies,
                            latency_sum, latency_least, latency_most, buckets, bucket_counts)
     select :projectId, :day::date, breakdown, ${columns}, observations, ${rollupSums.join(', ')}, latencies,
            latency_sum, latency_least, latency_most, buckets, bucket_counts
       from cells where breakdown in (select breakdown from kept)
   )
   insert into day_rolls (project_id, day, touches, kept)
   select :projectId, :day::date,
          (select sum(touches) from day_marks where project_id = :projectId and day = :day::date),
          array(select breakdown from kept order by 1)`,
);

const dayMs = 86_400_000;

type Of = { projectId: string; day: string };

const roll = async (tx: Queryable, of: Of, rules: RollupRules): Promise<void> => {
  await tx.query(dropStatement, of);
  const [size] = await tx.query<{ found: number }>(sizeStatement, of);
  if ((size?.found ?? 0) < rules.leastObservations) return;
  const from = `${of.day}T00:00:00Z`;
  const to = new Date(Date.parse(from) + dayMs).toISOString();
  await tx.query(timeStatement, []);
  await tx.query(rollupStatement, { ...of, from, to, mostShare: rules.mostShare });
};

/** Builds the rollups of one day. Returns false if no day is ready, or another control plane is building rollups. */
export const rollUpOneDay = (db: Database, rules: RollupRules): Promise<boolean> =>
  db.transaction(async (tx) => {
    const [lock] = await tx.query<{ isHeld: boolean }>(lockStatement, []);
    if (lock?.isHeld !== true) return false;
    const { restSeconds } = rules;
    const [open] = await tx.query<Of>(findStatement, { restSeconds });
    if (open === undefined) return false;
    await roll(tx, open, rules);
    await tx.query(settleStatement, { ...open, restSeconds });
    return true;
  });
