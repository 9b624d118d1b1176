-- Up Migration

-- The file of pools of each installation that its orchestrator used last: one that is started while the file
-- is wrong goes on with it.
create table pools_files (
  installation text primary key,
  content text not null,
  kept_at timestamptz not null default now()
);

-- Down Migration

drop table pools_files;
