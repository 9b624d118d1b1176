-- Up Migration

-- The request ledgers of sessions, delivered by their hosts: what a session was asked and what it
-- answered, kept when the session is over. `id` is the entry's number in its session's ledger, `at` the
-- host's clock, `bytes` the size of the JSON, by which a session's entries are bounded.
create table requests (
  session_id text not null references sessions,
  id integer not null check (id > 0),
  world_id text not null references worlds,
  at timestamptz not null,
  via text not null check (via in ('tool', 'api', 'session', 'webhook')),
  operation text,
  method text,
  path text,
  status integer,
  duration_ms double precision not null,
  request json not null,
  response json not null,
  changes json not null,
  rows json not null,
  call_id text,
  bytes integer not null,
  primary key (session_id, id)
);
create index requests_newest on requests (world_id, at desc, session_id desc, id desc);

-- Down Migration

drop table requests;
