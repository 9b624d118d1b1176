-- Up Migration

-- What requests of accounts with an `Idempotency-Key` made. Rows of projects, keys and tokens stay when those end, and
-- hold no secret.
create table account_creations (
  organization_id text not null references organizations,
  key text not null,
  operation text not null,
  request_hash text not null,
  subject text not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, key)
);

-- Down Migration

drop table account_creations;
