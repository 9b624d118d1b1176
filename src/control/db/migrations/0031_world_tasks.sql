-- Up Migration

-- Tasks that a project stores: each is of one world, with a pin to one of its versions or without, and has numbered
-- specs that never change. `labels` has the short members of the present spec's metadata, which lists are
-- filtered by: `["key","value"]` each.
create table world_tasks (
  id text primary key,
  project_id text not null references projects,
  world_id text not null references worlds,
  version_id text references versions,
  name text,
  version integer not null,
  labels text[] not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  idempotency_key text,
  request_hash text
);
create index world_tasks_newest on world_tasks (project_id, created_at desc, id desc);
create index world_tasks_of_world on world_tasks (world_id, created_at desc, id desc);
create unique index world_tasks_idempotency on world_tasks (project_id, idempotency_key);

create table world_task_versions (
  task_id text not null references world_tasks on delete cascade,
  version integer not null,
  spec json not null,
  content_hash text not null,
  message text,
  author text,
  created_at timestamptz not null default now(),
  primary key (task_id, version)
);

-- The stored task that a session was opened on, and which of its specs.
alter table sessions add column task_id text, add column task_version integer;

-- Down Migration

alter table sessions drop column task_id, drop column task_version;
drop table world_task_versions;
drop table world_tasks;
