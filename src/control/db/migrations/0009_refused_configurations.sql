-- Up Migration

-- Why the leader of an installation does not take the configuration that it was last given, if so.
alter table leases add column refused text;

-- Down Migration

alter table leases drop column refused;
