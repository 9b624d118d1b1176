-- Up Migration

-- The clock of a session's world, and the seed that its new ids are drawn by; null: by chance.
alter table sessions
  add column clock json not null default '{"at": null, "mode": "real", "rate": 1}',
  add column seed bigint check (seed >= 0);

-- Down Migration

alter table sessions drop column clock, drop column seed;
