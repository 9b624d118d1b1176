-- Up Migration

-- The address from which a host first reported that it is warm, before any session was given to it: its
-- token is taken from there alone. Null: it has not reported yet, or did so to a release before this one.
alter table hosts add column source_address text;

-- Down Migration

alter table hosts drop column source_address;
