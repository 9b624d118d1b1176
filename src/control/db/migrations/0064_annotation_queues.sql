-- Up Migration

create table annotation_queues (
  key uuid primary key,
  project_id text not null,
  id text not null,
  name text not null,
  description text,
  score_config_ids text[] not null,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default date_trunc('milliseconds', now()),
  constraint annotation_queues_name unique (project_id, name)
);
create index annotation_queues_made on annotation_queues (project_id, created_at desc, key desc);

-- Objects are named by strangers' ids and need not be there yet.
create table annotation_queue_items (
  key uuid primary key,
  project_id text not null,
  id text not null,
  queue_key uuid not null references annotation_queues on delete cascade,
  object_type text not null check (object_type in ('TRACE', 'OBSERVATION', 'SESSION')),
  object_key uuid not null,
  object_id text not null,
  status text not null check (status in ('PENDING', 'COMPLETED')),
  completed_at timestamptz,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default date_trunc('milliseconds', now()),
  constraint annotation_queue_items_object unique (queue_key, object_type, object_key),
  check ((status = 'COMPLETED') = (completed_at is not null))
);
create index annotation_queue_items_made on annotation_queue_items (queue_key, created_at desc, key desc);
create index annotation_queue_items_by_status
  on annotation_queue_items (queue_key, status, created_at desc, key desc);

create table annotation_assignments (
  queue_key uuid not null references annotation_queues on delete cascade,
  organization_id text not null,
  user_id text not null,
  created_at timestamptz not null default now(),
  primary key (queue_key, user_id),
  foreign key (organization_id, user_id) references memberships on delete cascade
);
create index annotation_assignments_of_user on annotation_assignments (organization_id, user_id);

-- Down Migration

drop table annotation_assignments, annotation_queue_items, annotation_queues;
