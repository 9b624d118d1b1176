-- Up Migration

-- Tests of worlds and proofs of tasks, each carried out on a session of its own. `task` and `input` are what the session
-- is opened on and what the call is given. Who carries one out holds its lease; one whose lease has run out is carried on
-- by another. `sessions` counts those that were lost, `attempts` the claims that ended in a fault of the service.
create table world_runs (
  id text primary key,
  project_id text not null references projects,
  world_id text not null references worlds,
  version_id text not null references versions,
  kind text not null check (kind in ('tests', 'proof')),
  origin text not null check (origin in ('push', 'client', 'api')),
  author text,
  task json,
  input json not null,
  state text not null check (state in ('queued', 'running', 'finished')),
  due_at timestamptz not null default now(),
  lease_owner text,
  lease_until timestamptz,
  attempts integer not null default 0,
  sessions integer not null default 0,
  session_id text,
  outcome text check (outcome in ('passed', 'failed', 'error')),
  summary json,
  report json,
  error_code text,
  error_message text,
  queued_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  idempotency_key text,
  request_hash text
);
create index world_runs_of_world on world_runs (world_id, kind, queued_at desc, id desc);
create index world_runs_of_version on world_runs (version_id, kind, queued_at desc, id desc);
create index world_runs_open on world_runs (project_id, state) where state <> 'finished';
create unique index world_runs_idempotency on world_runs (project_id, idempotency_key);

-- The run that a session was opened for; lists of sessions leave it out.
alter table sessions add column run_id text;

-- Which kinds there are is what the API says.
alter table calls drop constraint calls_kind_check;

-- Down Migration

alter table calls add constraint calls_kind_check
  check (kind in ('tool', 'grade', 'seed', 'reset', 'state', 'close')) not valid;
alter table sessions drop column run_id;
drop table world_runs;
