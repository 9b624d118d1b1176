-- Up Migration

-- People, their roles and tokens, keys that can be listed, settings of projects, and who changed what.

alter table organizations add column deleted_at timestamptz;

-- Null: what the organization has, or the installation. A deleted project keeps its row, under another slug.
alter table projects
  add column metadata json not null default '{}',
  add column gate_threshold double precision check (gate_threshold between 0 and 1),
  add column gate_floor integer check (gate_floor > 0),
  add column rate_limit integer check (rate_limit > 0),
  add column deleted_at timestamptz;

-- `masked_secret` is what is shown of the secret; null: made before it was kept.
alter table keys
  add column note text,
  add column masked_secret text,
  add column created_by text;
create index keys_of_project on keys (project_id, created_at) where revoked_at is null;
create index keys_of_organization on keys (organization_id, created_at)
  where revoked_at is null and project_id is null;

-- `email` is in lower case.
create table users (
  id text primary key,
  email text not null unique,
  name text not null,
  created_at timestamptz not null default now()
);

create table memberships (
  organization_id text not null references organizations,
  user_id text not null references users,
  role text not null check (role in ('OWNER', 'ADMIN', 'MEMBER', 'VIEWER', 'NONE')),
  created_at timestamptz not null default now(),
  primary key (organization_id, user_id)
);
create index memberships_of_user on memberships (user_id);

-- The role that holds in a project in place of the organization's.
create table project_memberships (
  project_id text not null references projects,
  user_id text not null,
  organization_id text not null,
  role text not null check (role in ('ADMIN', 'MEMBER', 'VIEWER', 'NONE')),
  created_at timestamptz not null default now(),
  primary key (project_id, user_id),
  foreign key (organization_id, user_id) references memberships on delete cascade
);
create index project_memberships_of_user on project_memberships (organization_id, user_id);

-- Personal access tokens. Each is of one user in one organization, and gone with the membership. A token is 256
-- random bits, so a plain SHA-256 of it is safe to keep.
create table tokens (
  id text primary key,
  organization_id text not null,
  user_id text not null,
  token_hash bytea not null unique,
  masked_token text not null,
  name text not null,
  scopes text[] not null,
  -- Null: every project that the user reaches.
  project_ids text[],
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  foreign key (organization_id, user_id) references memberships on delete cascade
);
create index tokens_of_user on tokens (organization_id, user_id, created_at);

-- When keys and tokens were last used, to about a minute. Apart from them, so that a use locks no row that is read to
-- check one.
create table credential_uses (
  credential_id text primary key,
  last_used_at timestamptz not null
) with (fillfactor = 70);

-- Who changed what; `before` and `after` hold no secret. Rows are only added.
create table audit_entries (
  id text primary key,
  organization_id text not null references organizations,
  project_id text references projects,
  at timestamptz not null default now(),
  actor_kind text not null check (
    actor_kind in ('user', 'organization_key', 'key_pair', 'operator', 'configuration')
  ),
  actor_id text not null,
  actor_name text not null,
  action text not null,
  subject text not null,
  before json,
  after json
);
create index audit_entries_newest on audit_entries (organization_id, at desc, id desc);
create index audit_entries_of_project on audit_entries (project_id, at desc, id desc);

-- A project that is being deleted gets no world any more, whichever replica makes it: the row is locked by both.
create function refuse_world_of_deleted_project() returns trigger language plpgsql as $$
declare
  gone timestamptz;
begin
  select deleted_at into gone from projects where id = new.project_id for share;
  if gone is not null then
    raise exception 'the project is deleted' using errcode = 'check_violation', constraint = 'worlds_project_lives';
  end if;
  return new;
end $$;
create trigger worlds_project_lives before insert on worlds
  for each row execute function refuse_world_of_deleted_project();

-- Down Migration

drop trigger worlds_project_lives on worlds;
drop function refuse_world_of_deleted_project;
drop table audit_entries, credential_uses, tokens, project_memberships, memberships, users;
drop index keys_of_organization, keys_of_project;
alter table keys drop column note, drop column masked_secret, drop column created_by;
alter table projects
  drop column metadata, drop column gate_threshold, drop column gate_floor,
  drop column rate_limit, drop column deleted_at;
alter table organizations drop column deleted_at;
