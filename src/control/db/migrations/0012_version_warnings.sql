-- Up Migration

-- Warnings of the world language, reported once, when the version was compiled. Null: none were reported.
alter table versions add column warnings json;

-- Down Migration

alter table versions drop column warnings;
