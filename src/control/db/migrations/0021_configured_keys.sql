-- Up Migration

-- When a control plane last said that a key pair is one of its configuration: one that none says so of any more is
-- revoked. Secrets that another took the place of are never taken back. Null: not said yet; none. From here on
-- `configured` is set by replicas of the release before alone, and taken away from what is named (db/projects/keys.ts).
alter table keys add column named_at timestamptz;
alter table keys add column former_secrets bytea[];

-- Down Migration

alter table keys drop column former_secrets;
alter table keys drop column named_at;
