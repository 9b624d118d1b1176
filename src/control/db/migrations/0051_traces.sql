-- Up Migration

-- What agents did. A key is 128 bits of the SHA-256 of project and id: ids are texts of strangers of up to 800 characters,
-- which an index cannot hold, and the same id may be in several projects. Nothing here refers to anything else, as
-- everything may arrive before what it belongs to.

create table traces (
  key uuid primary key,
  project_id text not null,
  id text not null,
  -- The partition of its observations: weeks since 1970 by the service's clock when it was first heard of. It never
  -- changes, whatever times events have.
  week integer not null,
  began_at timestamptz not null,
  -- Whether an event said when it began; else it is guessed from the times of events.
  began_is_given boolean not null,
  name text,
  user_id text,
  session_id text,
  session_key uuid,
  environment text,
  release text,
  version text,
  external_id text,
  is_public boolean,
  tags text[] not null default '{}',
  -- JSON text of strangers, which no statement looks into.
  input text,
  output text,
  metadata text,
  -- Ranks of its values, by which events that arrive later are merged (src/observability/state.ts).
  clock text not null,
  -- Made for an observation that no event has named a trace for.
  is_stray boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
) with (fillfactor = 85);
create index traces_began on traces (project_id, began_at desc, key desc);
create index traces_session on traces (session_key, began_at desc) where session_key is not null;
create index traces_user on traces (project_id, left(user_id, 100), began_at desc) where user_id is not null;
create index traces_stray on traces (key) where is_stray;

create table observations (
  trace_key uuid not null,
  key uuid not null,
  week integer not null,
  project_id text not null,
  trace_id text not null,
  id text not null,
  began_at timestamptz not null,
  began_is_given boolean not null,
  type text not null,
  name text,
  parent_id text,
  end_time timestamptz,
  completion_start_time timestamptz,
  level text,
  status_message text,
  version text,
  environment text,
  model text,
  model_parameters text,
  usage text,
  cost text,
  -- The sums of the two before, for statements.
  input_usage bigint,
  output_usage bigint,
  total_usage bigint,
  input_cost double precision,
  output_cost double precision,
  total_cost double precision,
  prompt_name text,
  prompt_version integer,
  input text,
  output text,
  metadata text,
  clock text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (trace_key, key, week)
) partition by range (week);
create index observations_key on observations (key);
create index observations_began on observations (project_id, began_at desc, key desc);

-- By lz4 where the server has it, which takes a fraction of the time of the usual compression.
do $$
begin
  alter table traces alter column input set compression lz4, alter column output set compression lz4,
    alter column metadata set compression lz4, alter column clock set compression lz4;
  alter table observations alter column input set compression lz4, alter column output set compression lz4,
    alter column metadata set compression lz4, alter column clock set compression lz4;
exception when feature_not_supported then
  raise notice 'this server has no lz4; the usual compression is used';
end $$;

create table trace_sessions (
  key uuid primary key,
  project_id text not null,
  id text not null,
  environment text not null,
  created_at timestamptz not null default now()
);
create index trace_sessions_made on trace_sessions (project_id, created_at desc, key desc);

-- Events that were taken, so that one that is sent again does nothing, not even for what was deleted since. They are
-- remembered for one week at least and two at most: a week's partition is dropped as a whole.
create table ingested_events (
  key uuid not null,
  week integer not null,
  primary key (key, week)
) partition by range (week);

-- Down Migration

drop table ingested_events, trace_sessions, observations, traces;
