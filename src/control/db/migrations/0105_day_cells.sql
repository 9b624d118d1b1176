-- Up Migration

-- Lists by level and by name count their matches in an index alone. Hardly any observation has a level of its own; a name
-- of more bytes than an index holds is looked for by time.
create index observations_level on observations (project_id, level, began_at desc) where level <> 'DEFAULT';
create index observations_name on observations (project_id, name, began_at desc) where octet_length(name) <= 500;

-- How often what lies on a day was touched, by project, day and slot of the writer (src/control/db/observability/daily-usage.ts).
-- The sum over slots only grows, and tells whether cells of the day are still those of its rows.
create table day_marks (
  project_id text not null,
  day date not null,
  slot smallint not null,
  touches bigint not null,
  touched_at timestamptz not null,
  -- Whether somebody has made the cells of the day since, or found it too small for them.
  is_settled boolean not null,
  primary key (project_id, day, slot)
) with (fillfactor = 60);
create index day_marks_open on day_marks (project_id, day) where not is_settled;

-- Days whose observations were added up: what had touched them by then, and by what they are kept.
create table day_rolls (
  project_id text not null,
  day date not null,
  touches bigint not null,
  kept text[] not null,
  rolled_at timestamptz not null default now(),
  primary key (project_id, day)
);

-- What the observations of a day add up to, in several breakdowns; null where a breakdown does not tell by a column.
create table day_cells (
  project_id text not null,
  day date not null,
  -- `model`, `name`, `hour` or `user` (src/control/db/observability/daily-rollups.ts).
  breakdown text not null,
  hour smallint,
  name text,
  type text,
  level text,
  environment text,
  model text,
  user_id text,
  observations double precision not null,
  input_usage double precision not null,
  output_usage double precision not null,
  total_usage double precision not null,
  input_cost double precision not null,
  output_cost double precision not null,
  total_cost double precision not null,
  -- Of latencies, in milliseconds: how many there are, and how they spread (src/control/db/observability/latency-sketch.ts).
  latencies double precision not null,
  latency_sum double precision,
  latency_least double precision,
  latency_most double precision,
  buckets smallint[],
  bucket_counts integer[]
);
create index day_cells_day on day_cells (project_id, day, breakdown);

-- Days that were there before.
insert into day_marks (project_id, day, slot, touches, touched_at, is_settled)
  select distinct project_id, day, -3, 1, now(), false from daily_usage where environment is not null;

-- Down Migration

drop table day_cells, day_rolls, day_marks;
drop index observations_name, observations_level;
