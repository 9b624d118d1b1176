-- Up Migration

-- The address from which a host first reported that it is warm, before any session was given to it: its
-- token is taken from there alone. Null: it has not reported yet, or did so to a release before this one.
-- `renews_token` says that the host asked there for another token than the one that it was launched with,
-- `beats.renewed` that it has spoken with that one, after which the first is worth nothing.
alter table hosts
  add column source_address text,
  add column renews_token boolean not null default false;
alter table beats add column renewed boolean not null default false;

-- Down Migration

alter table beats drop column renewed;
alter table hosts drop column source_address, drop column renews_token;
