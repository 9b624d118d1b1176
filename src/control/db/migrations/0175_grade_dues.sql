-- Up Migration

-- Call whose grade is to be reported; no ledger entry reports it.
alter table trace_dues add column call_id text;

-- Down Migration

alter table trace_dues drop column call_id;
