-- Up Migration

-- Keys by which buckets are reached, sealed by the secret of the installation.
create table file_connections (
  id text primary key,
  project_id text not null references projects,
  endpoint text,
  region text not null,
  sealed_keys text not null,
  created_at timestamptz not null default now()
);
create index file_connections_of_project on file_connections (project_id);

-- Folders and buckets that the files below a path of a project are synced with.
create table file_connectors (
  id text primary key,
  project_id text not null references projects,
  name text not null,
  kind text not null check (kind in ('folder', 'bucket')),
  direction text not null check (direction in ('pull', 'push')),
  target_prefix text not null,
  agent_access boolean not null,
  connection_id text references file_connections,
  -- Of a bucket; null for a folder.
  bucket text,
  -- Names with a slash between: of the folder, or the prefix in the bucket.
  place_path text not null,
  last_sync_at timestamptz,
  last_status text check (last_status in ('complete', 'partial', 'failed')),
  -- Who syncs it, and how long without saying so again.
  sync_id text,
  syncing_until timestamptz,
  created_at timestamptz not null default now(),
  constraint file_connectors_name unique (project_id, name)
);
create index file_connectors_connection on file_connectors (connection_id) where connection_id is not null;

-- What a sync did last for a path: it is left alone while both sides are as they were.
create table file_connector_entries (
  connector_id text not null references file_connectors on delete cascade,
  path text collate "C" not null,
  -- What the place says of its file: an ETag, or a time and a size.
  stamp text not null,
  digest text not null,
  primary key (connector_id, path)
);

-- Down Migration

drop table file_connector_entries, file_connectors, file_connections;
