-- Up Migration

-- A call may prove the task of its session, run the tests of its world, or give the answer of an agent.
alter table calls drop constraint if exists calls_kind_check;
alter table calls add constraint calls_kind_check
  check (kind in ('tool', 'grade', 'seed', 'reset', 'state', 'close', 'prove', 'test', 'answer')) not valid;

-- Down Migration

alter table calls drop constraint if exists calls_kind_check;
alter table calls add constraint calls_kind_check
  check (kind in ('tool', 'grade', 'seed', 'reset', 'state', 'close')) not valid;
