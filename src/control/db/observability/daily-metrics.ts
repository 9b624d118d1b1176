/**
 * Daily metrics of a project. They are computed from the daily sums (daily-usage.ts). If the sums cannot answer the
 * filters, the metrics are computed from traces and observations.
 */
import type { Queryable } from '../core/database.ts';
import { type Bind, type Condition, conditioned } from '../core/where.ts';
import { type DayHours, hourParts, inRange, type Range } from './hourly-rollups.ts';

/** Query for daily metrics, split by the source that answers each time range. */
export type DailyQuestion = {
  /**
   * Days that are answered from the daily sums; undefined if there are none. Conditions (`ofDays`) refer to the sums as
   * `u`.
   */
  days: Range | undefined;
  ofDays: readonly Condition[];
  /** Time ranges in which traces are counted from rows. Conditions (`ofTraces`) refer to the trace as `t`. */
  times: readonly Range[];
  /** Those of the `times` in which observations (`o`) are read from rows as well. */
  ofRows: readonly Range[];
  /**
   * Time ranges that are answered from hourly rollups, each with a remainder that is read from rows. Conditions
   * (`ofDays`) refer to the hours as `u`.
   */
  hours: readonly DayHours[];
  ofTraces: readonly Condition[];
};

const isTrue = 'true';

const all = (conditions: readonly Condition[], bind: Bind): string =>
  conditions.map((condition) => `(${condition(bind)})`).join(' and ') || isTrue;

const inTimes = (column: string, times: readonly Range[], bind: Bind): string =>
  times.map((range) => inRange(column, range, bind)).join(' or ');

const dayOf = (column: string): string => `(${column} at time zone 'utc')::date`;

const sums = ['observations', 'input_usage', 'output_usage', 'total_usage', 'total_cost'];

/** Builds the subquery that returns rows by day and model, from the sums and from the tables. */
const partsOf = (
  projectId: string,
  { days, ofDays, times, ofRows, hours, ofTraces }: DailyQuestion,
  bind: Bind,
): string => {
  const trace = ofTraces.length === 0 ? '' : 'join traces t on t.key = o.trace_key';
  const project = bind(projectId);
  const kept =
    days === undefined
      ? []
      : [
          `select u.day, u.model, sum(u.traces) as traces, sum(u.traces_of_model) as traces_of_model,
              ${sums.map((name) => `sum(u.${name}) as ${name}`).join(', ')}
             from daily_usage u
            where u.project_id = ${project} and u.environment is not null
              and u.day >= ${bind(days[0])}::date and u.day < ${bind(days[1])}::date and ${all(ofDays, bind)}
            group by u.day, u.model having sum(u.traces) <> 0 or sum(u.observations) <> 0`,
        ];
  const began =
    times.length === 0
      ? []
      : [
          `select ${dayOf('t.began_at')} as day, null as model, count(*) as traces, 0 as traces_of_model,
              ${sums.map((name) => `0 as ${name}`).join(', ')} from traces t
            where t.project_id = ${project} and (${inTimes('t.began_at', times, bind)}) and ${all(ofTraces, bind)}
            group by 1`,
        ];
  const read =
    ofRows.length === 0
      ? []
      : [
          // Adds up by trace first, so that each trace counts once. Sums are in float8, which is faster than numeric
          // and exact enough for the ends of a range.
          `select day, model, 0, count(*), sum(found), sum(input), sum(output), sum(total),
              sum(cost)::numeric * 1000000000000
             from (select ${dayOf('o.began_at')} as day, o.model, count(*) as found, ${[
               'input',
               'output',
               'total',
             ]
               .map((side) => `coalesce(sum(o.${side}_usage::float8), 0) as ${side}`)
               .join(', ')}, coalesce(sum(o.total_cost), 0) as cost
                     from observations o ${trace}
                    where o.project_id = ${project} and (${inTimes('o.began_at', ofRows, bind)}) and ${all(ofTraces, bind)}
                    group by 1, 2, o.trace_key) of_traces group by 1, 2`,
        ];
  const ofHours = {
    ...{ projectId, trace },
    ofDays: (of: Bind) => all(ofDays, of),
    ofTraces: (of: Bind) => all(ofTraces, of),
  };
  const parts = [...kept, ...began, ...read, ...hourParts(ofHours, hours, bind)];
  return `(${parts.join(' union all ')}) d`;
};

type DayModelRow = {
  model: string | null;
  traces: number;
  observations: number;
  inputUsage: number;
  outputUsage: number;
  totalUsage: number;
  totalCost: number;
};

/** Day with its models, the most expensive model first. */
export type DayRow = {
  day: string;
  traces: number;
  observations: number;
  totalCost: number;
  /** Number of all matching days, on all pages. */
  days: number;
  models: DayModelRow[];
};

/** Maximum number of models shown for one day. */
const mostModels = 100;

const added = (name: string): string => `sum(d.${name}) as ${name}`;
const number = (from: string, name: string, as: string): string =>
  `${from}.${name}::float8 as "${as}"`;
const dollars = (from: string, as: string): string =>
  `(${from}.total_cost / 1000000000000)::float8 as "${as}"`;

type Row = Omit<DayRow, 'models'> & {
  model: string | null;
  /** Rank of the model within its day; null if the day has no model. */
  place: number | null;
  ofModel: number;
  observationsOfModel: number;
  inputUsage: number;
  outputUsage: number;
  totalUsage: number;
  costOfModel: number;
};

/** Lists a page of days, latest first. Everything is read once: the totals of a day are added up from its models. */
export const listDays = async (
  db: Queryable,
  projectId: string,
  question: DailyQuestion,
  { limit, offset }: { limit: number; offset: number },
): Promise<DayRow[]> => {
  const page = conditioned(
    'list_days',
    (_, bind) =>
      `with reported as materialized (
         select d.day, d.model, ${['traces', 'traces_of_model', ...sums].map(added).join(', ')}
           from ${partsOf(projectId, question, bind)} group by d.day, d.model
       ), days as (
         select d.day, ${added('traces')}, ${added('observations')}, ${added('total_cost')}, count(*) over ()::int as days
           from reported d group by d.day order by d.day desc limit ${bind(limit)} offset ${bind(offset)}
       ), models as (
         select reported.*, row_number() over (
                  partition by day order by reported.total_cost desc, reported.observations desc, model) as place
           from reported join days using (day) where reported.observations <> 0
       )
       select days.day::text as day, ${number('days', 'traces', 'traces')}, ${number('days', 'observations', 'observations')},
              ${dollars('days', 'totalCost')}, days.days, models.model, models.place::int as place,
              ${number('models', 'traces_of_model', 'ofModel')}, ${number('models', 'observations', 'observationsOfModel')},
              ${number('models', 'input_usage', 'inputUsage')}, ${number('models', 'output_usage', 'outputUsage')},
              ${number('models', 'total_usage', 'totalUsage')}, ${dollars('models', 'costOfModel')}
         from days left join models on models.day = days.day and models.place <= ${mostModels}
        order by days.day desc, models.place`,
    [],
  );
  const rows = await db.query<Row>(page.statement, page.values);
  return [...Map.groupBy(rows, ({ day }) => day).values()].flatMap((ofDay): DayRow[] => {
    const [first] = ofDay;
    if (first === undefined) return [];
    const { day, traces, observations, totalCost, days } = first;
    const models = ofDay.flatMap((row): DayModelRow[] => {
      const { model, inputUsage, outputUsage, totalUsage } = row;
      if (row.place === null) return [];
      const used = { inputUsage, outputUsage, totalUsage, totalCost: row.costOfModel };
      return [{ model, traces: row.ofModel, observations: row.observationsOfModel, ...used }];
    });
    return [{ day, traces, observations, totalCost, days, models }];
  });
};
