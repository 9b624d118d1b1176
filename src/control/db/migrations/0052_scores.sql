-- Up Migration

create table score_configs (
  id text primary key,
  project_id text not null,
  name text not null,
  data_type text not null check (data_type in ('NUMERIC', 'CATEGORICAL', 'BOOLEAN', 'TEXT')),
  is_archived boolean not null default false,
  min_value double precision,
  max_value double precision,
  -- [{label, value}] as JSON text, checked before it was stored.
  categories text,
  description text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index score_configs_made on score_configs (project_id, created_at desc, id desc);

-- A score is of one trace (and perhaps an observation in it), one session or one run of a dataset; none of these has to
-- be there yet.
create table scores (
  key uuid primary key,
  project_id text not null,
  id text not null,
  name text not null,
  data_type text not null,
  value double precision,
  string_value text,
  source text not null,
  author_user_id text,
  comment text,
  metadata text not null,
  config_id text,
  queue_id text,
  environment text not null,
  scored_at timestamptz not null,
  trace_key uuid,
  trace_id text,
  observation_id text,
  session_key uuid,
  session_id text,
  dataset_run_id text,
  -- When the event that said it was made, in microseconds since 1970: a later one replaces it.
  said_at bigint not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(trace_id, session_id, dataset_run_id) = 1)
);
create index scores_scored on scores (project_id, scored_at desc, key desc);
create index scores_trace on scores (trace_key) where trace_key is not null;
create index scores_session on scores (session_key) where session_key is not null;

-- Down Migration

drop table scores, score_configs;
