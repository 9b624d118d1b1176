-- Up Migration

-- What is looked for in JSON of users is written beside it by the program, as PostgreSQL's own operators
-- fail on `\u0000` and lone surrogates. Nothing is filled in here: that would hold calls up.

-- What lists of worlds tell of a version, so that they need not read its contract. Null: not known yet, as
-- the version is of a release before this one, see `fillVersions`.
alter table versions
  add column has_api boolean,
  add column tool_count integer,
  add column task_count integer;

-- `short_error` is what lists tell of an error that has more to it; `keep_warm` is what a `close` asks for.
alter table calls
  add column short_error json,
  add column keep_warm boolean not null default false;

-- Down Migration

alter table calls drop column short_error, drop column keep_warm;
alter table versions drop column has_api, drop column tool_count, drop column task_count;
