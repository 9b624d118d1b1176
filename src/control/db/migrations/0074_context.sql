-- Up Migration

-- What agents are given to work with: prompts, skills, their own definitions, memory. One row a name.
create table context_repos (
  key uuid primary key,
  project_id text not null,
  kind text not null check (kind in ('agents', 'prompts', 'skills', 'memory')),
  name text not null,
  -- Of prompts: text or chat, the same for all versions.
  prompt_type text check (prompt_type in ('text', 'chat')),
  tags text[] not null default '{}',
  last_version integer not null,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default date_trunc('milliseconds', now()),
  constraint context_repos_name unique (project_id, kind, name),
  check ((kind = 'prompts') = (prompt_type is not null))
);
create index context_repos_made on context_repos (project_id, kind, created_at desc, key desc);

-- A version never changes, but for when its labels last moved. Contents are JSON text.
create table context_versions (
  repo_key uuid not null references context_repos (key) on delete cascade,
  version integer not null,
  id text not null,
  content text not null,
  config text not null default '{}',
  message text,
  created_by text not null,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default date_trunc('milliseconds', now()),
  primary key (repo_key, version)
);

create table context_labels (
  repo_key uuid not null,
  label text not null,
  version integer not null,
  primary key (repo_key, label),
  foreign key (repo_key, version) references context_versions (repo_key, version) on delete cascade
);
