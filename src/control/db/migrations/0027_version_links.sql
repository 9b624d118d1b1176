-- Up Migration

-- The links of a version to other worlds, each to the version that its reference named when this one was made. `tools`
-- are those of the other world that its sessions serve.
create table version_links (
  version_id text not null references versions,
  alias text not null,
  position integer not null,
  target_id text not null references versions,
  tools json not null,
  primary key (version_id, alias)
);
create index version_links_target on version_links (target_id);

-- Down Migration

drop table version_links;
