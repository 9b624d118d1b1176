-- Up Migration

-- Pages over what a project did, with code of the project's own. What it is of says its kind: a task set, a world, or
-- else sessions.
create table dashboards (
  id text primary key,
  project_id text not null references projects,
  name text not null,
  description text,
  task_set_id text references task_sets,
  world_id text references worlds,
  -- JSON as text: what was pushed, and what was built of it. Null without code.
  code text,
  built text,
  -- A digest of the code; that of none has one, too.
  stamp text not null,
  -- Of the request that made it, where that had one: the same again finds it.
  idempotency_key text,
  request_hash text,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default date_trunc('milliseconds', now()),
  check (task_set_id is null or world_id is null),
  check ((code is null) = (built is null))
);
create index dashboards_made on dashboards (project_id, created_at desc, id desc);
create unique index dashboards_idempotency on dashboards (project_id, idempotency_key)
  where idempotency_key is not null;

-- Down Migration

drop table dashboards;
