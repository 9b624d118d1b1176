-- Up Migration

-- The end of the agent's command that was run for a session, with what it printed. The client that ran the command reports it.
create table session_agents (
  session_id text primary key references sessions,
  outcome text not null check (outcome in ('ended', 'missing', 'failed', 'timed_out')),
  exit_code integer,
  signal text,
  seconds double precision not null,
  -- The last lines on standard error.
  last_lines text[] not null,
  output text not null,
  is_cut boolean not null,
  reported_at timestamptz not null default now()
);

-- The build that the sessions of a dataset run are rollouts of, and how many its first start planned.
alter table dataset_plays add column build_hash text, add column planned integer;

-- Down Migration

alter table dataset_plays drop column planned, drop column build_hash;
drop table session_agents;
