-- Up Migration

-- Datasets, versions of their items, and runs over them. A key is that of an id in its project (0051_traces.sql). Times
-- are whole milliseconds, as clients see them: a cursor or a version that they give is then exactly that of a row.

create table datasets (
  key uuid primary key,
  project_id text not null,
  id text not null,
  name text not null,
  description text,
  -- JSON text of strangers, which no statement looks into.
  metadata text,
  input_schema text,
  expected_schema text,
  -- Raised by whatever is written of its schemas and items, so that both fit each other.
  revision bigint not null default 0,
  active_items bigint not null default 0,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default date_trunc('milliseconds', now()),
  constraint datasets_name unique (project_id, name)
) with (fillfactor = 70);
create index datasets_made on datasets (project_id, created_at desc, key desc);

-- One row a version; the one that nothing has followed yet has no end.
create table dataset_items (
  key uuid not null,
  valid_from timestamptz not null,
  valid_to timestamptz,
  project_id text not null,
  dataset_key uuid not null,
  id text not null,
  status text not null check (status in ('ACTIVE', 'ARCHIVED')),
  input text,
  expected_output text,
  metadata text,
  source_trace_key uuid,
  source_trace_id text,
  source_observation_key uuid,
  source_observation_id text,
  -- Of the item, and thus the same in all its versions.
  created_at timestamptz not null,
  primary key (key, valid_from)
);
create unique index dataset_items_present on dataset_items (key) where valid_to is null;
create index dataset_items_of_dataset on dataset_items (dataset_key, status, created_at desc, key desc)
  where valid_to is null;
create index dataset_items_of_project on dataset_items (project_id, status, created_at desc, key desc)
  where valid_to is null;
create index dataset_items_history on dataset_items (dataset_key, created_at desc, key desc);
create index dataset_items_written on dataset_items (dataset_key, valid_from);
create index dataset_items_of_trace on dataset_items (source_trace_key, created_at desc, key desc)
  where source_trace_key is not null;
create index dataset_items_of_observation on dataset_items (source_observation_key, created_at desc, key desc)
  where source_observation_key is not null;

create table dataset_runs (
  key uuid primary key,
  project_id text not null,
  id text not null,
  dataset_key uuid not null,
  name text not null,
  description text,
  metadata text,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default date_trunc('milliseconds', now()),
  constraint dataset_runs_name unique (dataset_key, name)
);
create index dataset_runs_made on dataset_runs (dataset_key, created_at desc, key desc);

-- Neither trace nor observation has to be there yet.
create table dataset_run_items (
  key uuid primary key,
  project_id text not null,
  id text not null,
  run_key uuid not null,
  item_key uuid not null,
  item_id text not null,
  trace_id text,
  observation_id text,
  observation_key uuid,
  dataset_version timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null default date_trunc('milliseconds', now())
);
create index dataset_run_items_made on dataset_run_items (run_key, created_at desc, key desc);

-- Down Migration

drop table dataset_run_items, dataset_runs, dataset_items, datasets;
