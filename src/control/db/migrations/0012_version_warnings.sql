-- Up Migration

-- What the world language takes for a slip, told once, when the version was compiled. Null: not told.
alter table versions add column warnings json;

-- Down Migration

alter table versions drop column warnings;
