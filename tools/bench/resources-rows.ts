/**
 * Creates very many observations of 30 days with their traces, scores and daily rollups, like a project with long-past
 * telemetry. Statements on the server create them, which takes minutes where ingestion would take hours.
 */
import { execute } from '../../test/support/database/sql.ts';

export const days = 30;
const observationsOfTrace = 10;

/**
 * Returns an SQL expression for 128 bits of the SHA-256 of project and id, which is the key that `keyOf` computes; `id`
 * is an SQL expression, too.
 */
const key = (id: string): string =>
  `encode(substring(sha256(convert_to(:project, 'utf8') || '\\x00'::bytea || convert_to(${id}, 'utf8')) for 16), 'hex')::uuid`;

const clock = `'["100000000000000000000",{},null]'`;
const at = (number: string, all: number): string =>
  `:end::timestamptz - (${number})::float8 / ${all} * interval '${days} days'`;

const statements = (rows: number): [what: string, sql: string][] => {
  const traces = Math.ceil(rows / observationsOfTrace);
  const scores = traces;
  const trace = `'trace-' || (i / ${observationsOfTrace})`;
  return [
    [
      `${traces} traces`,
      `insert into traces (key, project_id, id, week, began_at, began_is_given, name, user_id, environment, tags, clock)
       select ${key(`'trace-' || i`)}, :project, 'trace-' || i, :week, ${at('i', traces)}, true,
              'name-' || (i % 20), 'user-' || (i % 1000), case i % 3 when 0 then 'test' else 'production' end,
              array['tag-' || (i % 10)], ${clock}
         from generate_series(0, ${traces - 1}) i`,
    ],
    [
      `${rows} observations`,
      `insert into observations (trace_key, key, week, project_id, trace_id, id, began_at, began_is_given, type, name, parent_id,
                                 end_time, level, environment, model, usage, cost, input_usage, output_usage, total_usage,
                                 input_cost, output_cost, total_cost, input, output, clock)
       select ${key(trace)}, ${key(`'observation-' || i`)}, :week, :project, ${trace}, 'observation-' || i,
              ${at('i', rows)}, true, case i % 2 when 0 then 'GENERATION' else 'SPAN' end, 'step-' || (i % 50), null,
              ${at('i', rows)} + (i::bigint * 7919 % 5000) * interval '1 ms', case i % 100 when 0 then 'ERROR' end,
              case (i / ${observationsOfTrace}) % 3 when 0 then 'test' else 'production' end, 'model-' || (i % 8),
              '{"input":1000,"output":100,"total":1100}', '{"total":0.002}', 1000, 100, 1100, 0.001, 0.001, 0.002,
              '"What is asked, in short."', '"What is answered, in short."', ${clock}
         from generate_series(0, ${rows - 1}) i`,
    ],
    [
      `${scores} scores`,
      `insert into scores (key, project_id, id, name, data_type, value, source, metadata, environment, scored_at, trace_key,
                           trace_id, said_at)
       select ${key(`'score-' || i`)}, :project, 'score-' || i, 'score-' || (i % 5), 'NUMERIC', (i % 100) / 100.0, 'API',
              '{}', 'production', ${at('i', scores)}, ${key(`'trace-' || i`)}, 'trace-' || i, i
         from generate_series(0, ${scores - 1}) i`,
    ],
    [
      'sums by day',
      `insert into daily_usage (project_id, day, key, slot, trace_name, environment, model, events, traces, traces_of_model,
                                observations, input_usage, output_usage, total_usage, input_cost, output_cost, total_cost)
       select :project, day, md5(name || environment || coalesce(model, ''))::uuid, 0, name, environment, model, 0,
              sum(traces), sum(of_model), sum(observations), sum(observations) * 1000, sum(observations) * 100,
              sum(observations) * 1100, sum(observations) * 1000000000, sum(observations) * 1000000000,
              sum(observations) * 2000000000
         from (
           select (began_at at time zone 'utc')::date as day, name, environment, null as model, 1 as traces, 0 as of_model,
                  0 as observations from traces
            where project_id = :project and environment is not null
           union all
           select (o.began_at at time zone 'utc')::date, t.name, t.environment, o.model, 0, count(distinct o.trace_key), count(*)
             from observations o join traces t on t.key = o.trace_key where o.project_id = :project and t.environment is not null
            group by 1, 2, 3, 4
         ) reported group by day, name, environment, model`,
    ],
    [
      'marks of days',
      `insert into day_marks (project_id, day, slot, touches, touched_at, is_settled)
       select distinct :project, day, 0, 1, now(), false from daily_usage
        where project_id = :project and environment is not null on conflict do nothing`,
    ],
  ];
};

/** Creates the rows. The partitions of this week already exist. */
export const makeRows = async (
  databaseUrl: string,
  { projectId, rows, endMs }: { projectId: string; rows: number; endMs: number },
  say: (line: string) => void,
): Promise<void> => {
  const quoted = `'${projectId.replaceAll("'", "''")}'`;
  const week = Math.floor(Date.now() / (7 * 86_400_000));
  for (const [what, sql] of statements(rows)) {
    say(`making ${what}`);
    const filled = sql
      .replaceAll(':project', quoted)
      .replaceAll(':week', String(week))
      .replaceAll(':end', `'${new Date(endMs).toISOString()}'`);
    await execute(databaseUrl, filled);
  }
  for (const table of ['traces', 'observations', 'scores', 'daily_usage']) {
    await execute(databaseUrl, `vacuum analyze ${table}`);
  }
};
