-- Up Migration

-- The tools that a session's task gives its agent, of those that the world has. Null: all of them.
alter table sessions add column task_tools text[];

-- Down Migration

alter table sessions drop column task_tools;
