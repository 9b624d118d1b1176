-- Up Migration

-- Trace in which a session is reported, and the parent span there: those that its opener named, or a trace of its own.
-- Null: the session is reported in no trace.
alter table sessions
  add column trace_id text,
  add column trace_parent_id text,
  -- The session of traces that was asked for; null: its own id.
  add column trace_session_id text;

-- The W3C trace context of who asked for a call.
alter table calls add column trace_parent text;

alter table projects add column session_traces boolean not null default true;

-- Outbox of changes of sessions that are not yet in their traces. The statement that makes a change inserts its row;
-- the transaction that writes the change into the trace deletes it.
create table trace_dues (
  id bigint generated always as identity primary key,
  session_id text not null,
  -- True if the session itself is to be reported: it was opened, or has ended.
  tells_session boolean not null,
  -- Numbers of entries of its ledger.
  from_id integer,
  to_id integer,
  bytes integer not null,
  queued_at timestamptz not null default now(),
  not_before timestamptz not null default now(),
  -- Number of failed attempts.
  attempts integer not null default 0
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);

-- Sessions that were reported in a trace. If the trace is missing by now, it was deleted, and nothing more is reported.
create table told_sessions (
  session_id text primary key,
  is_over boolean not null default false
);

-- Down Migration

drop table told_sessions, trace_dues;
alter table projects drop column session_traces;
alter table calls drop column trace_parent;
alter table sessions drop column trace_session_id, drop column trace_parent_id, drop column trace_id;
