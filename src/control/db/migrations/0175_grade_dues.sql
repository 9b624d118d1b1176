-- Up Migration

-- The call whose grade is to be told, which no entry of a ledger tells of.
alter table trace_dues add column call_id text;

-- Down Migration

alter table trace_dues drop column call_id;
