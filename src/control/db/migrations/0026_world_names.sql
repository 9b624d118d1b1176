-- Up Migration

-- Slugs that a world had before it was renamed; others may have them by now.
alter table worlds add column earlier_slugs text[] not null default '{}';

-- What an `Idempotency-Key` made: the version, with what else its answer told.
create table creations (
  project_id text not null references projects,
  key text not null,
  operation text not null,
  request_hash text not null,
  version_id text not null references versions,
  detail json,
  created_at timestamptz not null default now(),
  primary key (project_id, key)
);

-- Connectors: trees that an organization shares, in versions. What a version consists of is held by an upload that
-- never ends, so that it counts for the project that published it, and is not collected.
create table connectors (
  id text primary key,
  organization_id text not null references organizations,
  slug text not null,
  name text not null,
  description text not null,
  latest integer not null,
  created_at timestamptz not null default now(),
  unique (organization_id, slug)
);
create table connector_versions (
  connector_id text not null references connectors,
  number integer not null,
  project_id text not null references projects,
  author text not null,
  message text,
  content_hash text not null,
  files json not null,
  upload_id text not null references uploads,
  created_at timestamptz not null default now(),
  primary key (connector_id, number)
);

-- Down Migration

drop table connector_versions;
drop table connectors;
drop table creations;
alter table worlds drop column earlier_slugs;
