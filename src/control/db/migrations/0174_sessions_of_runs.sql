-- Up Migration

-- The run of a dataset that a session was opened for; `run_id` is the same of runs of tests and proofs.
alter table sessions add column dataset_run_id text;

-- Sessions of one run, and those of any run that are open.
create index if not exists sessions_of_run on sessions (project_id, coalesce(run_id, dataset_run_id), created_at desc, id desc)
  where run_id is not null or dataset_run_id is not null;
create index if not exists sessions_of_runs_open on sessions (id)
  where closed_at is null and (run_id is not null or dataset_run_id is not null);

-- Down Migration

drop index sessions_of_runs_open, sessions_of_run;
alter table sessions drop column dataset_run_id;
