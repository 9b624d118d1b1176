-- Up Migration

-- Versions whose tests have to pass before they become the head of their world: how each stands at the gate, the version
-- that it was made from, and the name that the world gets with it.
create table version_gates (
  version_id text primary key references versions,
  world_id text not null references worlds,
  made_from text not null references versions,
  name text not null,
  state text not null default 'waiting' check (state in ('waiting', 'passed', 'failed', 'outdated')),
  settled_at timestamptz
);

-- Down Migration

drop table version_gates;
