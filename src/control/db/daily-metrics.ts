/**
 * What a project came to day by day: from the sums that are kept (daily-usage.ts), from traces and observations
 * themselves where these do not know what is asked, or from both.
 */
import type { Database } from './database.ts';
import { type Bind, type Condition, conditioned } from './where.ts';

/** Days by UTC, as `2026-03-01`, the last one left out; times as ISO texts, likewise. */
export type Range = readonly [from: string, to: string];

/** What is counted. */
export type DailyQuestion = {
  /** Days that the sums answer, with conditions on `u`. */
  days: Range | undefined;
  ofDays: readonly Condition[];
  /** Times that are read from traces `t` and their observations `o`, with conditions on `t`. */
  times: readonly Range[];
  ofTraces: readonly Condition[];
};

const isTrue = 'true';

const all = (conditions: readonly Condition[], bind: Bind): string =>
  conditions.map((condition) => `(${condition(bind)})`).join(' and ') || isTrue;

const inTimes = (column: string, times: readonly Range[], bind: Bind): string =>
  times
    .map(
      ([from, to]) =>
        `(${column} >= ${bind(from)}::timestamptz and ${column} < ${bind(to)}::timestamptz)`,
    )
    .join(' or ');

const dayOf = (column: string): string => `(${column} at time zone 'utc')::date`;

const sums = ['observations', 'input_usage', 'output_usage', 'total_usage', 'total_cost'];

/** Rows of days and models: of the sums, and of what is read from the tables. */
const partsOf = (
  projectId: string,
  { days, ofDays, times, ofTraces }: DailyQuestion,
  bind: Bind,
  ofModels: boolean,
): string => {
  // Their traces are joined where something is asked of them, and told apart where they are counted.
  const trace = ofTraces.length === 0 ? '' : 'join traces t on t.key = o.trace_key';
  const [told, groups] = ofModels ? ['1', '1, 2, o.trace_key'] : ['0', '1, 2'];
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
  const read =
    times.length === 0
      ? []
      : [
          `select ${dayOf('t.began_at')} as day, null as model, count(*) as traces, 0 as traces_of_model,
              ${sums.map((name) => `0 as ${name}`).join(', ')} from traces t
            where t.project_id = ${project} and (${inTimes('t.began_at', times, bind)}) and ${all(ofTraces, bind)}
            group by 1`,
          `select ${dayOf('o.began_at')}, o.model, 0, ${told}, count(*),
              coalesce(sum(o.input_usage), 0), coalesce(sum(o.output_usage), 0), coalesce(sum(o.total_usage), 0),
              coalesce(sum(o.total_cost), 0)::numeric * 1000000000000
             from observations o ${trace}
            where o.project_id = ${project} and (${inTimes('o.began_at', times, bind)}) and ${all(ofTraces, bind)}
            group by ${groups}`,
        ];
  return `(${[...kept, ...read].join(' union all ')}) d`;
};

export type DayRow = {
  day: string;
  traces: number;
  observations: number;
  totalCost: number;
  /** How many days there are in all. */
  days: number;
};

const number = (name: string, as: string): string => `sum(d.${name})::float8 as "${as}"`;
const dollars = `(sum(d.total_cost) / 1000000000000)::float8 as "totalCost"`;

/** A page of days, the latest first. */
export const listDays = async (
  db: Database,
  projectId: string,
  question: DailyQuestion,
  { limit, offset }: { limit: number; offset: number },
): Promise<DayRow[]> => {
  const page = conditioned(
    'list_days',
    (_, bind) =>
      `select d.day::text as day, ${number('traces', 'traces')}, ${number('observations', 'observations')}, ${dollars},
              count(*) over ()::int as days
         from ${partsOf(projectId, question, bind, false)}
        group by d.day order by d.day desc limit ${bind(limit)} offset ${bind(offset)}`,
    [],
  );
  return db.query<DayRow>(page.statement, page.values);
};

export type DayModelRow = {
  day: string;
  model: string | null;
  traces: number;
  observations: number;
  inputUsage: number;
  outputUsage: number;
  totalUsage: number;
  totalCost: number;
};

/** Of each day so many models are shown, the dearest first. */
const mostModels = 100;

/** What days came to by models, of those days alone. */
export const listDayModels = async (
  db: Database,
  projectId: string,
  question: DailyQuestion,
  days: readonly string[],
): Promise<DayModelRow[]> => {
  const list = conditioned(
    'list_day_models',
    (_, bind) =>
      `select * from (
         select d.day::text as day, d.model, ${number('traces_of_model', 'traces')},
                ${number('observations', 'observations')}, ${number('input_usage', 'inputUsage')},
                ${number('output_usage', 'outputUsage')}, ${number('total_usage', 'totalUsage')}, ${dollars},
                row_number() over (partition by d.day order by sum(d.total_cost) desc, sum(d.observations) desc, d.model)
                  as place
           from ${partsOf(projectId, question, bind, true)} where d.day = any(${bind(days)}::date[])
          group by d.day, d.model having sum(d.observations) <> 0) placed
        where place <= ${mostModels} order by day desc, place`,
    [],
  );
  return db.query<DayModelRow>(list.statement, list.values);
};
