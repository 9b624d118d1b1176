-- Up Migration

-- What receivers answered to deliveries of webhooks: one answer a delivery, the first that came. `delivery_id` is the
-- number of the delivery's entry in the ledger. `entry_id` is the entry that tells of the answer there, null until the
-- session's host has written it; `told_at` is when the host was last asked to.
create table delivery_answers (
  session_id text not null,
  delivery_id integer not null,
  event text not null,
  status integer not null check (status between 0 and 999),
  reason text,
  sent_to text,
  sender text not null check (sender in ('listen', 'push')),
  duration_ms double precision not null,
  answered_at timestamptz not null default now(),
  told_at timestamptz not null default now(),
  entry_id integer,
  primary key (session_id, delivery_id),
  foreign key (session_id, delivery_id) references requests on delete cascade
);
create index delivery_answers_open on delivery_answers (told_at) where entry_id is null;

-- Which ways and kinds there are is said in one place, the domain; here it is held that each is a word.
alter table requests drop constraint if exists requests_via_check;
alter table requests add constraint requests_via_check check (via ~ '^[a-z-]{1,32}$') not valid;
alter table calls drop constraint if exists calls_kind_check;
alter table calls add constraint calls_kind_check check (kind ~ '^[a-z-]{1,32}$') not valid;

-- Down Migration

alter table calls drop constraint if exists calls_kind_check;
alter table calls add constraint calls_kind_check
  check (kind in ('tool', 'grade', 'seed', 'reset', 'state', 'close', 'prove', 'test', 'answer')) not valid;
alter table requests drop constraint if exists requests_via_check;
alter table requests add constraint requests_via_check
  check (via in ('tool', 'api', 'session', 'webhook')) not valid;
drop table delivery_answers;
