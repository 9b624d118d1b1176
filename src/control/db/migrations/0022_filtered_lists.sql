-- Up Migration

-- What filters of lists look for, in the order of their pages: a page is found by one of these, however few match.
-- Where the tables are very long they may be made beforehand, concurrently (docs/operate/operations.md).
-- Of a session's own requests there are so few (limits.ts) that its primary key is enough.
create index if not exists sessions_by_state on sessions (project_id, state, created_at desc, id desc);
create index if not exists sessions_by_world on sessions (project_id, world_id, created_at desc, id desc);
create index if not exists sessions_by_world_and_state on sessions (project_id, world_id, state, created_at desc, id desc);
create index if not exists requests_by_via on requests (world_id, via, at desc, session_id desc, id desc);
create index if not exists requests_by_operation on requests (world_id, operation, at desc, session_id desc, id desc)
  where operation is not null;
create index if not exists requests_by_status on requests (world_id, coalesce(status, 0), at desc, session_id desc, id desc);

-- Down Migration

drop index requests_by_status;
drop index requests_by_operation;
drop index requests_by_via;
drop index sessions_by_world_and_state;
drop index sessions_by_world;
drop index sessions_by_state;
