-- Up Migration

-- What lists of worlds tell of a version, so that they need not read its contract.
alter table versions
  add column has_api boolean
    generated always as (coalesce(json_typeof(contract -> 'api') = 'object', false)) stored,
  add column tool_count integer
    generated always as (coalesce(json_array_length(contract -> 'tools'), 0)) stored,
  add column task_count integer
    generated always as (coalesce(json_array_length(contract -> 'tasks'), 0)) stored;

-- Down Migration

alter table versions drop column has_api, drop column tool_count, drop column task_count;
