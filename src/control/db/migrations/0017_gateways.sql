-- Up Migration

-- Gateways by the address that they ask from: when one was last answered, and when one was last refused for its
-- token, so that any replica can tell whether there are any that work.
create table gateways (
  address text primary key,
  seen_at timestamptz,
  refused_at timestamptz
);

-- Down Migration

drop table gateways;
