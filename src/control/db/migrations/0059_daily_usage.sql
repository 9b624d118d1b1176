-- Up Migration

-- What the observations of a trace add up to, by day and model: `[[day, model, observations, …], …]` as JSON text
-- (src/observability/tally.ts). What a trace comes to is taken off the sums below and added anew when it changes.
alter table traces add column tally text;

-- What projects come to, kept by the statements that write traces (src/observability/daily.ts). Sums over any rows of a
-- project are right; `traces_of_model` counts a trace once for each day and model. Writers that are at work at once have
-- slots of their own, so that they do not wait for each other. A row may have come down to nothing.
create table daily_usage (
  project_id text not null,
  -- In UTC: that on which a trace or an observation began; of events, that on which they were taken.
  day date not null,
  -- Of trace_name, environment and model.
  key uuid not null,
  slot smallint not null,
  trace_name text,
  environment text,
  model text,
  events numeric not null,
  traces numeric not null,
  traces_of_model numeric not null,
  observations numeric not null,
  input_usage numeric not null,
  output_usage numeric not null,
  total_usage numeric not null,
  -- In 1e-12 dollars.
  input_cost numeric not null,
  output_cost numeric not null,
  total_cost numeric not null,
  primary key (project_id, day, key, slot)
) with (fillfactor = 60);

-- Traces that were deleted. What was said of them before that does not bring them back. Kept as long as events are.
create table deleted_traces (
  key uuid not null,
  week integer not null,
  deleted_at timestamptz not null,
  primary key (key, week)
) partition by range (week);

-- Down Migration

drop table deleted_traces, daily_usage;
alter table traces drop column tally;
