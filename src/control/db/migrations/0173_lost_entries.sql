-- Up Migration

-- The number of the last entry that a session's ledger had on its host, where its host could not deliver that entry.
alter table ledgers add column last_entry integer;

-- Down Migration

alter table ledgers drop column last_entry;
