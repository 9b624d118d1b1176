-- Up Migration

-- Secrets that tokens of sessions are made with, each by a mark that tells nothing of it: sessions opened from
-- `since` on have theirs of that one, so that all replicas show the token that the session's host was given.
create table secret_marks (
  mark text primary key,
  since timestamptz not null
);

-- Whether a key pair is the one of the control plane's configuration, or was: only these are revoked when another
-- takes their place. Null: written before this was noted.
alter table keys add column configured boolean;

-- Down Migration

alter table keys drop column configured;
drop table secret_marks;
