-- Up Migration

-- The pools of each installation as its orchestrator last published them: what their hosts have (see
-- `hosts`), how many there are to be, and why none is launched now, if so. `position` is the order in
-- which pools are asked to serve a session. `worlds` is what they keep loaded: [{world, hosts}], each
-- world as `organization/project/slug`.
create table pools (
  installation text not null,
  name text not null,
  position integer not null,
  tier text check (tier in ('standard', 'premium')),
  isolation text not null check (isolation in ('process', 'container', 'gvisor', 'kata')),
  size text not null,
  minimum integer not null,
  maximum integer not null,
  target integer not null,
  held text,
  worlds json not null default '[]',
  primary key (installation, name)
);

-- Versions that hosts could not load ahead of a session.
create index hosts_load_failed on hosts (version_id, state_since)
  where end_reason = 'load_failed' and uses = 0;

-- Down Migration

drop index hosts_load_failed;
drop table pools;
