-- Up Migration

-- The verdict and the score of the last grade of a session, and the run and the build of an agent that it is a rollout
-- of. Lists filter by them; the grade itself stays with its call.
alter table sessions
  add column verdict text,
  add column score double precision,
  add column agent_run_id text,
  add column build_id text;

-- Most sessions are graded once, so an index may look at the verdict although each grade then writes all indexes.
create index if not exists sessions_by_verdict on sessions (project_id, verdict, created_at desc, id desc)
  where verdict is not null;
create index if not exists sessions_by_task on sessions (project_id, task_name, created_at desc, id desc)
  where task_name is not null;
create index if not exists sessions_of_build on sessions (project_id, build_id, created_at desc, id desc)
  where build_id is not null;
create index if not exists sessions_of_any_run on sessions
  (project_id, coalesce(run_id, dataset_run_id, agent_run_id), created_at desc, id desc)
  where run_id is not null or dataset_run_id is not null or agent_run_id is not null;
drop index sessions_of_run;

-- How far the sessions of earlier releases were given these values. No row: all were.
create table verdict_fill (after text not null);
insert into verdict_fill values ('');

-- Down Migration

drop table verdict_fill;
create index sessions_of_run on sessions (project_id, coalesce(run_id, dataset_run_id), created_at desc, id desc)
  where run_id is not null or dataset_run_id is not null;
drop index sessions_of_any_run, sessions_of_build, sessions_by_task, sessions_by_verdict;
alter table sessions drop column build_id, drop column agent_run_id, drop column score, drop column verdict;
