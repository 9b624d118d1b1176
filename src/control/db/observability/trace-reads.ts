/** Reads traces: lists, single traces, metrics of traces, and the traces of a session. */
import { limits } from '#domain/limits.ts';
import { usualEnvironment } from '#observability/environment.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';
import { updatedText, wholeWithHeavy, withHeavy, withoutHeavy } from '../core/heavy-pages.ts';
import type { Count } from '../core/lists.ts';
import { utcText } from '../core/times.ts';
import { type Condition, conditioned, countUpTo } from '../core/where.ts';
import { keyOf } from './trace-keys.ts';

/** Trace as clients see it, without aggregates of its observations. Its times have the form that `isoOf` takes. */
export type ShownTraceRow = {
  id: string;
  timestamp: string;
  name: string | null;
  userId: string | null;
  sessionId: string | null;
  /** Environment; null for the default environment. */
  environment: string | null;
  release: string | null;
  version: string | null;
  externalId: string | null;
  /** True if the trace is public; null if it is not. */
  public: boolean | null;
  /** Tags of the trace; null if it has none. */
  tags: string[] | null;
  createdAt: string;
  /** Time of the last update; null if the trace was not updated since its creation. */
  updatedAt: string | null;
  /** JSON texts; null if absent, not requested, or left out because the page had reached its byte limit. */
  input: string | null;
  output: string | null;
  metadata: string | null;
  /** True if columns were left out because the page had reached its byte limit; null if the row is complete. */
  isCut: boolean | null;
};

/** Trace with the columns that are needed to find its observations and scores. */
export type TraceRow = ShownTraceRow & { key: string; week: number };

const shown = `id, ${utcText('began_at')} as "timestamp", name, user_id as "userId", session_id as "sessionId",
  nullif(environment, '${usualEnvironment}') as environment, release, version, external_id as "externalId",
  nullif(is_public, false) as "public", nullif(tags, '{}') as tags, ${utcText('created_at')} as "createdAt",
  ${updatedText} as "updatedAt"`;
const plain = `key, week, ${shown}`;

const whole = withHeavy(plain, limits.pageBytes);
const light = withoutHeavy(plain);

/** Join that adds aggregates of a trace's observations, for conditions on them. */
const aggregates = `cross join lateral (
    select extract(epoch from max(coalesce(o.end_time, o.began_at)) - min(o.began_at)) as latency,
           sum(o.input_usage) as input_tokens, sum(o.output_usage) as output_tokens,
           sum(o.total_usage) as total_tokens, sum(o.input_cost) as input_cost,
           sum(o.output_cost) as output_cost, sum(o.total_cost) as total_cost,
           count(*) filter (where o.level = 'ERROR') as errors,
           count(*) filter (where o.level = 'WARNING') as warnings,
           count(*) filter (where o.level = 'DEBUG') as debugs,
           count(*) filter (where coalesce(o.level, 'DEFAULT') = 'DEFAULT') as defaults
      from observations o where o.trace_key = t.key and o.week = t.week) m`;

/** Columns by which lists of traces can be sorted. */
export const traceOrders = {
  id: 't.id',
  timestamp: 't.began_at',
  name: 't.name',
  userId: 't.user_id',
  release: 't.release',
  version: 't.version',
  public: 't.is_public',
  // No trace is bookmarked: `key` is never null, so this is false for every row.
  bookmarked: '(t.key is null)',
  sessionId: 't.session_id',
} as const;

export type TraceList = {
  /**
   * Conditions on the traces. They refer to the trace as `t`; if `isAggregated` is true, they may refer to its
   * aggregates as `m`.
   */
  conditions: readonly Condition[];
  isAggregated: boolean;
  order: keyof typeof traceOrders;
  isDescending: boolean;
  limit: number;
  offset: number;
  hasHeavy: boolean;
};

const ofProject =
  (projectId: string): Condition =>
  (bind) =>
    `t.project_id = ${bind(projectId)}`;

/** Lists a page of traces, and counts the matching traces. */
export const listTraces = async (
  db: Database,
  projectId: string,
  { conditions, isAggregated, order, isDescending, limit, offset, hasHeavy }: TraceList,
): Promise<{ rows: TraceRow[]; count: Count }> => {
  const all = [ofProject(projectId), ...conditions];
  const from = `traces t ${isAggregated ? aggregates : ''}`;
  const direction = isDescending ? 'desc' : 'asc';
  const by = `${traceOrders[order]} ${direction}, t.key ${direction}`;
  const page = conditioned(
    'list_traces',
    (where, bind) =>
      `with paged as (
         select t.*, row_number() over (order by ${by}) as place from ${from} where ${where}
          order by ${by} limit ${bind(limit)} offset ${bind(offset)}
       ) ${hasHeavy ? whole : light}`,
    all,
  );
  const [rows, count] = await Promise.all([
    db.query<TraceRow>(page.statement, page.values),
    countUpTo(db, 'count_traces', from, all),
  ]);
  return { rows, count };
};

const findStatement = statement(
  'find_trace',
  `with paged as (select *, 1 as place from traces where key = $1) ${whole}`,
);

/** Returns the trace with this id; undefined if there is none. */
export const findTrace = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<TraceRow | undefined> =>
  (await db.query<TraceRow>(findStatement, [keyOf(projectId, id)]))[0];

/** Aggregates of a trace's observations. */
export type TraceMetrics = { latency: number; totalCost: number };

type Traces = readonly { key: string; week: number }[];

const keysOf = (traces: Traces) => [
  traces.map(({ key }) => key),
  [...new Set(traces.map(({ week }) => week))],
];

const metricsStatement = statement(
  'measure_traces',
  `select trace_key as key, coalesce(sum(total_cost), 0)::float8 as "totalCost",
          extract(epoch from max(coalesce(end_time, began_at)) - min(began_at))::float8 as latency
     from observations where trace_key = any($1::uuid[]) and week = any($2::integer[]) group by trace_key`,
);

/** Returns the metrics of traces by the keys of the traces. Traces without observations are left out. */
export const measureTraces = async (
  db: Queryable,
  traces: Traces,
): Promise<Map<string, TraceMetrics>> => {
  const rows = await db.query<TraceMetrics & { key: string }>(metricsStatement, keysOf(traces));
  return new Map(rows.map((row) => [row.key, row]));
};

/** Maximum number of ids of observations, and of scores, that are listed for the traces of one page. */
const mostIds = 100_000;

const observationIdsStatement = statement(
  'list_observation_ids',
  `select trace_key as key, id from observations where trace_key = any($1::uuid[]) and week = any($2::integer[])
    order by trace_key, began_at limit ${mostIds}`,
);
const scoreIdsStatement = statement(
  'list_score_ids',
  `select trace_key as key, id from scores where trace_key = any($1::uuid[])
    order by trace_key, scored_at limit ${mostIds}`,
);

const byKey = (rows: readonly { key: string; id: string }[]): Map<string, string[]> => {
  const lists = new Map<string, string[]>();
  for (const { key, id } of rows) {
    const list = lists.get(key);
    if (list === undefined) lists.set(key, [id]);
    else list.push(id);
  }
  return lists;
};

/** Lists the ids of the observations of traces, by the keys of the traces. */
export const listObservationIds = async (db: Queryable, traces: Traces) =>
  byKey(await db.query<{ key: string; id: string }>(observationIdsStatement, keysOf(traces)));

/** Lists the ids of the scores of traces, by the keys of the traces. */
export const listScoreIds = async (db: Queryable, traces: Traces) =>
  byKey(
    await db.query<{ key: string; id: string }>(scoreIdsStatement, [traces.map(({ key }) => key)]),
  );

/** Maximum number of traces shown for one session. */
const mostOfSession = 50_000;

const ofSession = (name: string, columns: string) =>
  statement(
    name,
    wholeWithHeavy(columns, {
      from: 'traces where session_key = $1',
      order: 'began_at, key',
      most: mostOfSession,
      bytes: limits.pageBytes,
    }),
  );
const shownOfSessionStatement = ofSession('show_traces_of_session', shown);
const ofSessionStatement = ofSession('list_traces_of_session', plain);

/** Passes the traces of a session to `take`, earliest first, in the form that clients see. */
export const showTracesOfSession = (
  db: Database,
  sessionKey: string,
  take: (row: ShownTraceRow) => void,
): Promise<void> => db.each(shownOfSessionStatement, [sessionKey], take);

/** Lists the traces of a session, earliest first. */
export const listTracesOfSession = (db: Database, sessionKey: string): Promise<TraceRow[]> =>
  db.query(ofSessionStatement, [sessionKey]);
