-- Up Migration

-- Runs of datasets whose items are tasks of a world: what is opened, and how many at once. `world` is its address, with
-- its version if that was given. Whoever carries one on holds its lease.
create table dataset_plays (
  run_key uuid primary key references dataset_runs (key) on delete cascade,
  project_id text not null references projects,
  world text not null,
  at_once integer not null,
  state text not null check (state in ('RUNNING', 'COMPLETED', 'STOPPED')),
  -- Why it was stopped.
  reason text,
  due_at timestamptz not null default now(),
  finished_at timestamptz
);
create index dataset_plays_due on dataset_plays (due_at) where state = 'RUNNING';

-- The session of each item. One that was not graded is opened anew when the run goes on: another attempt.
create table dataset_rollouts (
  run_key uuid not null references dataset_plays on delete cascade,
  item_key uuid not null,
  item_id text not null,
  position integer not null,
  state text not null check (state in ('WAITING', 'OPEN', 'GRADED', 'FAILED')),
  attempt integer not null default 1,
  session_id text,
  verdict text,
  score double precision,
  error text,
  primary key (run_key, item_key)
);
create index dataset_rollouts_listed on dataset_rollouts (run_key, state, position);

-- Down Migration

drop table dataset_rollouts, dataset_plays;
