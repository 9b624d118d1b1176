-- Up Migration

-- What is known of users of agents. A key is that of an id in its project (0051_traces.sql).
create table user_profiles (
  key uuid primary key,
  project_id text not null,
  user_id text not null,
  display_name text,
  email text,
  -- JSON text of strangers, which no statement looks into.
  attributes text not null,
  notes text,
  -- Raised by each change, so that none is lost to another.
  revision bigint not null default 0,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default date_trunc('milliseconds', now())
);

-- What users did, and what it was worth. Nothing that they name has to be there.
create table user_events (
  key uuid primary key,
  project_id text not null,
  id text not null,
  user_key uuid not null,
  user_id text not null,
  event text not null,
  value double precision,
  metadata text,
  trace_key uuid,
  trace_id text,
  session_id text,
  happened_at timestamptz not null,
  created_at timestamptz not null default date_trunc('milliseconds', now())
);
create index user_events_happened on user_events (project_id, happened_at desc, key desc);
create index user_events_of_user on user_events (user_key, happened_at desc, key desc);
create index user_events_by_name on user_events (project_id, event, happened_at desc, key desc);

-- The same added up, by the statement that writes an event.
create table user_event_sums (
  user_key uuid not null,
  event text not null,
  events bigint not null,
  value numeric not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (user_key, event)
) with (fillfactor = 70);

create table comments (
  key uuid primary key,
  project_id text not null,
  id text not null,
  object_type text not null check (object_type in ('TRACE', 'OBSERVATION', 'SESSION', 'PROMPT')),
  object_key uuid not null,
  object_id text not null,
  content text not null,
  author_user_id text,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default date_trunc('milliseconds', now())
);
create index comments_made on comments (project_id, created_at desc, key desc);
create index comments_of_object on comments (object_key, object_type, created_at desc, key desc);

-- Down Migration

drop table comments, user_event_sums, user_events, user_profiles;
