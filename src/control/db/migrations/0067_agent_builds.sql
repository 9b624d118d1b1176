-- Up Migration

-- A build of an agent: what it is made of never changes. `number` says which was registered first.
create table agent_builds (
  id text primary key,
  project_id text not null references projects,
  agent_id text not null,
  build_hash text not null,
  semantic_ver text,
  -- JSON objects as text, checked before they were stored.
  manifest text not null,
  attribution text not null,
  -- Of the attribution; small letters.
  commit_sha text,
  branch text,
  number bigint generated always as identity,
  created_at timestamptz not null default now(),
  unique (project_id, build_hash)
);
create index agent_builds_newest on agent_builds (project_id, number desc);
create index agent_builds_of_agent on agent_builds (project_id, agent_id, number desc);
create index agent_builds_of_version on agent_builds (project_id, agent_id, semantic_ver, number desc)
  where semantic_ver is not null;
create index agent_builds_of_commit on agent_builds (project_id, commit_sha text_pattern_ops, number desc)
  where commit_sha is not null;

-- Where a label of an agent is.
create table agent_labels (
  project_id text not null,
  agent_id text not null,
  label text not null,
  build_id text not null references agent_builds,
  moved_at timestamptz not null default now(),
  primary key (project_id, agent_id, label)
);
create index agent_labels_on on agent_labels (build_id);

-- Each move of a label, kept for good.
create table agent_label_moves (
  id text primary key,
  number bigint generated always as identity,
  project_id text not null,
  agent_id text not null,
  label text not null,
  build_id text not null references agent_builds,
  previous_build_id text references agent_builds,
  is_rollback boolean not null,
  is_forced boolean not null,
  -- Names of tools that the move breaks.
  breaking text[] not null,
  reason text,
  actor text not null,
  source text,
  moved_at timestamptz not null default now()
);
create index agent_label_moves_to on agent_label_moves (build_id, number desc);
create index agent_label_moves_from on agent_label_moves (previous_build_id, number desc)
  where previous_build_id is not null;

-- A run of a build, by the id that its client gives. How it stands is found from its sessions.
create table agent_runs (
  project_id text not null,
  id text not null,
  build_id text not null references agent_builds,
  model text,
  planned integer check (planned > 0),
  number bigint generated always as identity,
  created_at timestamptz not null default now(),
  last_opened_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (project_id, id)
);
create index agent_runs_newest on agent_runs (project_id, number desc);
create index agent_runs_of_build on agent_runs (build_id, number desc);

-- Written before the session is opened, so the session may not be there.
create table agent_rollouts (
  session_id text primary key,
  project_id text not null,
  run_id text not null,
  foreign key (project_id, run_id) references agent_runs (project_id, id)
);
create index agent_rollouts_of_run on agent_rollouts (project_id, run_id);

-- Down Migration

drop table agent_rollouts, agent_runs, agent_label_moves, agent_labels, agent_builds;
