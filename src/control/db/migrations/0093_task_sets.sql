-- Up Migration

-- Lists of stored tasks, by which they are looked at together. A task that is deleted leaves its sets.
create table task_sets (
  id text primary key,
  key uuid not null unique,
  project_id text not null references projects,
  name text not null,
  description text,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  constraint task_sets_name unique (project_id, name)
);
create index task_sets_made on task_sets (project_id, created_at desc, key desc);

create table task_set_tasks (
  task_set_id text not null references task_sets on delete cascade,
  task_id text not null references world_tasks on delete cascade,
  position integer not null,
  primary key (task_set_id, task_id)
);
create index task_set_tasks_of_task on task_set_tasks (task_id);

-- Sessions that were opened on a stored task. Where the table is very long it may be made beforehand, concurrently
-- (docs/operate/operations.md).
create index if not exists sessions_of_task on sessions (task_id, created_at desc, id desc) where task_id is not null;

-- Down Migration

drop index sessions_of_task;
drop table task_set_tasks;
drop table task_sets;
