-- Up Migration

-- Since when the service posts what sessions of the project send to their webhooks; null: it does not.
alter table projects add column webhook_push_since timestamptz;

-- Of a delivery: the URL that was registered, and a name for its subscription; null for every other entry. They are read
-- by whoever reads the entry, since its request is JSON of strangers, which no statement looks into.
alter table requests add column sent_url text;
alter table requests add column sent_line text;

-- Where deliveries to a URL that sessions of a world registered go instead.
create table webhook_destinations (
  world_id text not null references worlds on delete cascade,
  url text not null,
  destination text not null,
  set_at timestamptz not null default now(),
  primary key (world_id, url)
);

-- Deliveries on their way to receivers. Of those of one line (a subscription of a session) one at a time is `ready`
-- or `sending`, so that they arrive in their order; the others are `waiting`. A row that is `sending` belongs to the
-- sender named by `claim`, and is sent by nobody else. `failed` is to be written down as what its receiver answered.
-- A row is deleted in the transaction that writes the answer down.
create table pushes (
  session_id text not null,
  delivery_id integer not null,
  project_id text not null references projects,
  line bigint not null,
  receiver text not null,
  -- Where it goes, when that is not the URL that was registered.
  destination text,
  bytes integer not null,
  state text not null check (state in ('waiting', 'ready', 'sending', 'failed')),
  seq bigint generated always as identity,
  queued_at timestamptz not null default now(),
  claim text,
  claimed_at timestamptz,
  failure text,
  reason text,
  primary key (session_id, delivery_id),
  foreign key (session_id, delivery_id) references requests on delete cascade,
  check ((state = 'sending') = (claim is not null)),
  check ((state = 'failed') = (failure is not null))
) with (fillfactor = 70);
create index pushes_ready on pushes (project_id, receiver, seq) where state = 'ready';
create index pushes_queued on pushes (project_id, receiver) where state in ('waiting', 'ready');
create index pushes_lines on pushes (session_id, line, delivery_id) where state in ('waiting', 'ready', 'sending');
create index pushes_sending on pushes (claimed_at) where state = 'sending';
create index pushes_failed on pushes (seq) where state = 'failed';
create index pushes_oldest on pushes (queued_at) where state in ('waiting', 'ready');

-- The number of the last delivery of a session that was queued: none is queued twice, whatever its host tells again.
-- Its row is locked by whoever adds to the session's lines or has their next one ready.
create table push_sessions (
  session_id text primary key references sessions,
  last_id integer not null
);

-- Deliveries are queued where they are written, whichever message brings them. This is a function because a statement
-- sees the database of its beginning: what was done while the lock was waited for is seen by the next one alone.
create function queue_pushes() returns trigger language plpgsql as $$
declare
  -- Of one project, as many wait for one receiver.
  most constant integer := 10000;
  sent record;
  known integer;
begin
  for sent in
    select f.session_id, s.project_id, s.world_id, max(f.id) as last
      from fresh f join sessions s on s.id = f.session_id join projects p on p.id = s.project_id
     where f.sent_url is not null and p.webhook_push_since is not null
     group by 1, 2, 3 order by 1
  loop
    insert into push_sessions (session_id, last_id) values (sent.session_id, 0) on conflict do nothing;
    select last_id into known from push_sessions where session_id = sent.session_id for update;
    insert into pushes (session_id, delivery_id, project_id, line, receiver, destination, bytes, state, failure, reason)
    with named as (
      select f.id, f.bytes, d.destination, coalesce(d.destination, f.sent_url) as url,
             hashtextextended(f.sent_line, 0) as line
        from fresh f
        left join webhook_destinations d on d.world_id = sent.world_id and d.url = f.sent_url
       where f.session_id = sent.session_id and f.id > known and f.sent_url is not null
    ), placed as (
      select *, left(lower(coalesce(substring(url from '^[^:]+:/*(?:[^/?#]*@)?([^/?#]*)'), '')), 255) as receiver
        from named
    ), numbered as (
      select *, row_number() over (partition by receiver order by id) as turn from placed
    ), measured as (
      select n.*, n.turn + (select count(*) from (
               select from pushes p where p.project_id = sent.project_id and p.receiver = n.receiver
                 and p.state in ('waiting', 'ready') limit most) queued) > most as is_full
        from numbered n
    )
    select sent.session_id, m.id, sent.project_id, m.line, m.receiver, m.destination, m.bytes,
           case when m.is_full then 'failed'
                when exists (select from pushes p where p.session_id = sent.session_id and p.line = m.line
                               and p.state in ('waiting', 'ready', 'sending'))
                  or exists (select from measured e where e.line = m.line and e.id < m.id and not e.is_full)
                then 'waiting' else 'ready' end,
           case when m.is_full then 'full' end,
           case when m.is_full then format('%s deliveries wait for %s already', most, m.receiver) end
      from measured m order by m.id;
    update push_sessions set last_id = greatest(last_id, sent.last) where session_id = sent.session_id;
  end loop;
  return null;
end $$;
create trigger queued_for_push after insert on requests
  referencing new table as fresh for each statement execute function queue_pushes();

-- Down Migration

drop trigger queued_for_push on requests;
drop function queue_pushes;
drop table push_sessions, pushes, webhook_destinations;
alter table requests drop column sent_line;
alter table requests drop column sent_url;
alter table projects drop column webhook_push_since;
