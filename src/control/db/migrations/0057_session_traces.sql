-- Up Migration

-- Which trace a session is told in, and under which span of it: those that whoever opened it named, or a trace of its
-- own. Null: it is told in none.
alter table sessions
  add column trace_id text,
  add column trace_parent_id text,
  -- The session of traces that was asked for; null: its own id.
  add column trace_session_id text;

-- The W3C trace context of who asked for a call.
alter table calls add column trace_parent text;

alter table projects add column session_traces boolean not null default true;

-- What is to be told of sessions in their traces. A row is written by the statement that writes what it is about, and
-- deleted by the transaction that tells of it.
create table trace_dues (
  id bigint generated always as identity primary key,
  session_id text not null,
  -- Whether the session itself is to be told of: it was opened, or has ended.
  tells_session boolean not null,
  -- Numbers of entries of its ledger.
  from_id integer,
  to_id integer,
  bytes integer not null,
  queued_at timestamptz not null default now(),
  not_before timestamptz not null default now(),
  -- How often telling it failed.
  attempts integer not null default 0
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);

-- Sessions of which something was told. A trace that is gone since was deleted: then nothing more is told.
create table told_sessions (
  session_id text primary key,
  is_over boolean not null default false
);

-- Down Migration

drop table told_sessions, trace_dues;
alter table projects drop column session_traces;
alter table calls drop column trace_parent;
alter table sessions drop column trace_session_id, drop column trace_parent_id, drop column trace_id;
