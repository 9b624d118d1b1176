-- Up Migration

-- What the observations of a day that was added up come to by hour, in the columns of `daily_usage`, so that days of which a
-- part is asked for need not be read from rows (src/control/db/observability/hourly-rollups.ts).
create table day_hours (
  project_id text not null,
  day date not null,
  hour smallint not null,
  -- Of the trace; of the observation.
  trace_name text,
  environment text not null,
  model text,
  observations double precision not null,
  input_usage double precision not null,
  output_usage double precision not null,
  total_usage double precision not null,
  -- In dollars.
  total_cost double precision not null,
  -- Traces whose first observation of the day and model is in the hour; and those whose last one is.
  traces_begun double precision not null,
  traces_ended double precision not null
);
create index day_hours_day on day_hours (project_id, day);

-- Days that were added up are added up anew.
update day_marks m set is_settled = false from day_rolls r where (r.project_id, r.day) = (m.project_id, m.day);

-- Down Migration

update day_rolls set kept = array_remove(kept, 'trace');
drop table day_hours;
