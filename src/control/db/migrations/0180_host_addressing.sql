-- Up Migration

-- How the address of a host becomes known, as its driver reported it. Null: its orchestrator, or the replica that
-- registered it, is of the release before this one.
alter table hosts add column addressing text;

-- Down Migration

alter table hosts drop column addressing;
