-- Up Migration

-- Blobs that nobody has in memory at once are in pieces, where an installation keeps them in its database; `size`
-- is that of all of them (null: the bytes are in the row itself).
alter table blobs add column size bigint;
create table blob_pieces (
  digest text not null,
  ordinal integer not null,
  bytes bytea not null,
  primary key (digest, ordinal)
);
alter table blob_pieces alter column bytes set storage external;

-- Rows on their way into a world. The row of a batch is its job, too: whoever has the lease does it, and one at a time
-- is done in a world, which the index on `world_id` alone sees to. A publish is a row of another kind.
create table data_batches (
  id text primary key,
  world_id text not null references worlds,
  project_id text not null references projects,
  kind text not null default 'import' check (kind in ('import', 'publish')),
  state text not null check (state in ('open', 'uploading', 'queued', 'validating', 'applying',
                                       'applied', 'refused', 'published', 'failed')),
  mode text not null check (mode in ('append', 'merge', 'replace')),
  redact text not null check (redact in ('off', 'apply', 'refuse')),
  publish text not null check (publish in ('now', 'later')),
  atomic boolean not null,
  dry_run boolean not null,
  message text,
  author text not null,
  entities text[],
  expected_chunks integer,
  -- Whether its rows were redacted before they were first stored.
  is_redacted boolean not null default false,
  idempotency_key text,
  request_hash text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  queued_at timestamptz,
  ended_at timestamptz,
  lease_owner text,
  lease_until timestamptz,
  attempts integer not null default 0,
  validated_chunks integer not null default 0,
  applied_rows bigint not null default 0,
  -- What came of it. `base_version_id`: the version that the rows of `snapshot` were made upon.
  base_version_id text references versions,
  snapshot text,
  entity_counts json,
  landed json,
  outcome json,
  version_id text references versions,
  refused bigint not null default 0,
  refusals json,
  report text,
  error_code text,
  error_message text,
  -- When the bytes of its chunks were given up.
  emptied_at timestamptz
);
create index data_batches_newest on data_batches (world_id, created_at desc, id desc);
create unique index data_batches_key on data_batches (project_id, idempotency_key);
create unique index data_batches_running on data_batches (world_id) where state in ('validating', 'applying');
create index data_batches_jobs on data_batches (queued_at) where state in ('queued', 'validating', 'applying');
create index data_batches_bytes on data_batches (updated_at) where emptied_at is null;

create table data_chunks (
  id text primary key,
  batch_id text not null references data_batches,
  world_id text not null references worlds,
  ordinal integer not null,
  digest text not null,
  bytes bigint not null,
  rows bigint not null,
  entity text,
  -- When its bytes came, by whichever address, and when that was confirmed.
  received_at timestamptz,
  uploaded_at timestamptz,
  unique (batch_id, ordinal)
);
create index data_chunks_held on data_chunks (world_id, digest) where uploaded_at is not null;

-- Entities whose rows an import has replaced, those of the tree as well: a push leaves the tree's rows of them out.
alter table versions add column replaced_entities text[] not null default '{}';

-- Down Migration

alter table versions drop column replaced_entities;
drop table data_chunks;
drop table data_batches;

drop table blob_pieces;
alter table blobs drop column size;
