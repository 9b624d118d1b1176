-- Up Migration

-- The nouns of the control plane. States are those of src/domain/; times are the database's own.
-- JSON that belongs to users is `json` and not `jsonb`: it is kept as given, `\u0000` included.

create table organizations (
  id text primary key,
  slug text not null unique,
  name text not null,
  created_at timestamptz not null default now()
);

create table projects (
  id text primary key,
  organization_id text not null references organizations,
  slug text not null,
  name text not null,
  created_at timestamptz not null default now(),
  unique (organization_id, slug)
);

-- A key pair of a project, or of a whole organization (then `project_id` is null). The secret key is
-- 256 random bits, so a plain SHA-256 of it is safe to keep.
create table keys (
  id text primary key,
  organization_id text not null references organizations,
  project_id text references projects,
  public_key text not null unique,
  secret_hash bytea not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);

create table worlds (
  id text primary key,
  project_id text not null references projects,
  slug text not null,
  kind text not null,
  name text not null,
  description text,
  head_version_id text not null,
  created_at timestamptz not null default now(),
  unique (project_id, slug)
);
create index worlds_newest on worlds (project_id, created_at desc, id desc);

-- Immutable. `files` is the manifest of the tree: [{path, sizeBytes, sha256}].
create table versions (
  id text primary key,
  world_id text not null references worlds,
  project_id text not null references projects,
  number integer not null,
  state text not null check (state in ('READY')),
  content_hash text not null,
  message text,
  contract json not null,
  files json not null,
  entity_counts json not null,
  bundle text not null,
  snapshot text not null,
  created_at timestamptz not null default now(),
  unique (world_id, number)
);
alter table worlds add constraint worlds_head_version_id_fkey
  foreign key (head_version_id) references versions deferrable initially deferred;

-- `host_id` and `generation` name the host that serves it, or served it last; both are null while
-- it waits for one. Whatever a host says about its session is fenced by this pair.
-- `open_calls` counts the calls that are queued or claimed, `last_seq` is the last one's number:
-- both are here so that one row lock decides between a call and the reaper.
create table sessions (
  id text primary key,
  project_id text not null references projects,
  world_id text not null references worlds,
  version_id text not null references versions,
  state text not null check (
    state in ('PROVISIONING', 'READY', 'RECOVERING', 'CLOSING', 'CLOSED', 'FAILED')
  ),
  end_reason text,
  error json,
  task json,
  task_form text,
  task_name text,
  task_hash text,
  instruction text,
  surfaces text[] not null,
  browser_tier text not null,
  reuse_warm boolean not null,
  keep_warm boolean not null default false,
  pinned boolean not null default false,
  idempotency_key text,
  request_hash text,
  host_id text,
  generation integer,
  host_reused boolean not null default false,
  attempts integer not null default 0,
  last_seq integer not null default 0,
  open_calls integer not null default 0 check (open_calls >= 0),
  created_at timestamptz not null default now(),
  state_since timestamptz not null default now(),
  assigned_at timestamptz,
  ready_at timestamptz,
  closed_at timestamptz,
  last_activity_at timestamptz not null default now(),
  check ((state in ('CLOSED', 'FAILED')) = (closed_at is not null)),
  check (state not in ('CLOSING', 'CLOSED', 'FAILED') or end_reason is not null)
) with (fillfactor = 60);
create unique index sessions_idempotency on sessions (project_id, idempotency_key)
  where idempotency_key is not null;
create index sessions_newest on sessions (project_id, created_at desc, id desc);
create index sessions_waiting on sessions (created_at, id)
  where state = 'PROVISIONING' and host_id is null;
create index sessions_live on sessions (state) where state not in ('CLOSED', 'FAILED');

-- `version_id` is the world version whose code and rows it has held since its last assignment; null
-- is a blank host. `bundle` and `state_digest` are what it reported after the load: a recycled host
-- must show the same.
create table hosts (
  id text primary key,
  installation text not null,
  pool text not null,
  runtime text not null,
  state text not null check (
    state in ('starting', 'warm', 'assigned', 'recycling', 'draining', 'gone')
  ),
  generation integer not null default 0,
  session_id text references sessions,
  version_id text references versions,
  bundle text,
  state_digest text,
  uses integer not null default 0,
  runtime_id text,
  address text,
  end_reason text,
  end_detail text,
  created_at timestamptz not null default now(),
  state_since timestamptz not null default now(),
  launched_at timestamptz,
  check ((state = 'assigned') = (session_id is not null))
) with (fillfactor = 60);
create unique index hosts_one_per_session on hosts (session_id) where session_id is not null;
create index hosts_warm on hosts (state_since) where state = 'warm';
create index hosts_live on hosts (installation, pool) where state <> 'gone';
alter table sessions add constraint sessions_host_id_fkey foreign key (host_id) references hosts;

-- Signs of life, apart from the hosts: a heartbeat must never hold the lock of a row that an open is
-- about to claim, because a locked host is skipped.
create table beats (
  host_id text primary key references hosts,
  last_seen_at timestamptz,
  rss_bytes bigint
) with (fillfactor = 50);

-- `generation` is the host's at the claim: only it may answer.
create table calls (
  id text primary key,
  session_id text not null references sessions,
  seq integer not null,
  kind text not null check (kind in ('tool', 'grade', 'seed', 'reset', 'state', 'close')),
  name text,
  input json not null,
  state text not null check (
    state in ('queued', 'claimed', 'succeeded', 'failed', 'lost', 'cancelled')
  ),
  generation integer,
  output json,
  error json,
  changes json not null default '{}',
  idempotency_key text,
  request_hash text,
  queued_at timestamptz not null default now(),
  claimed_at timestamptz,
  answered_at timestamptz,
  unique (session_id, seq)
);
create unique index calls_idempotency on calls (session_id, idempotency_key)
  where idempotency_key is not null;
create index calls_open on calls (session_id, seq) where state in ('queued', 'claimed');

-- Who leads an installation: one orchestrator at a time.
create table leases (
  installation text primary key,
  holder text not null,
  expires_at timestamptz not null
);

-- Down Migration

drop table leases, calls cascade;
drop table beats, hosts, sessions, worlds, versions cascade;
drop table keys, projects, organizations;
