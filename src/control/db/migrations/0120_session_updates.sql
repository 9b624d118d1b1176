-- Up Migration

-- A session changes its state several times, and PostgreSQL writes a changed row into all indexes where one of them
-- looks at what was changed. So no index looks at `state`: of sessions that have not ended there are few, and of the
-- others the state is final, in a column that is written once.
alter table sessions
  add column final_state text generated always as (case when state in ('CLOSED', 'FAILED') then state end) stored;

create index if not exists sessions_open on sessions (project_id, created_at desc, id desc) where closed_at is null;
create index if not exists sessions_unplaced on sessions (created_at, id) where host_id is null and closed_at is null;
create index sessions_by_end on sessions (project_id, final_state, created_at desc, id desc)
  where final_state is not null;
create index sessions_by_world_and_end on sessions (project_id, world_id, final_state, created_at desc, id desc)
  where final_state is not null;
drop index sessions_live, sessions_unclosed, sessions_waiting, sessions_by_state, sessions_by_world_and_state;

-- Down Migration

create index sessions_by_world_and_state on sessions (project_id, world_id, state, created_at desc, id desc);
create index sessions_by_state on sessions (project_id, state, created_at desc, id desc);
create index sessions_waiting on sessions (created_at, id) where state = 'PROVISIONING' and host_id is null;
create index sessions_unclosed on sessions (project_id) where closed_at is null;
create index sessions_live on sessions (state) where state not in ('CLOSED', 'FAILED');
drop index sessions_by_world_and_end, sessions_by_end, sessions_unplaced, sessions_open;
alter table sessions drop column final_state;
