-- Up Migration

-- In which of its sender's claims a push was claimed. A sender that got no answer to a claim says so with its next one,
-- and what was claimed in it is ready again; null for a sender of the release before.
alter table pushes add column round integer;

-- As before, with each receiver's queue counted once a statement instead of once a delivery, and the lines of what is
-- added looked through once.
create or replace function queue_pushes() returns trigger language plpgsql as $$
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
    ), queues as materialized (
      select r.receiver, (select count(*) from (
               select from pushes p where p.project_id = sent.project_id and p.receiver = r.receiver
                 and p.state in ('waiting', 'ready') limit most) queued) as queued
        from (select distinct receiver from placed) r
    ), measured as (
      select p.*, q.queued + row_number() over (partition by p.receiver order by p.id) > most as is_full
        from placed p join queues q using (receiver)
    ), busy as materialized (
      select l.line, exists (select from pushes p where p.session_id = sent.session_id and p.line = l.line
                               and p.state in ('waiting', 'ready', 'sending')) as is_busy
        from (select distinct line from placed) l
    ), lined as (
      select m.*, b.is_busy or coalesce(bool_or(not m.is_full) over (
               partition by m.line order by m.id rows between unbounded preceding and 1 preceding), false) as is_behind
        from measured m join busy b using (line)
    )
    select sent.session_id, l.id, sent.project_id, l.line, l.receiver, l.destination, l.bytes,
           case when l.is_full then 'failed' when l.is_behind then 'waiting' else 'ready' end,
           case when l.is_full then 'full' end,
           case when l.is_full then format('%s deliveries wait for %s already', most, l.receiver) end
      from lined l order by l.id;
    update push_sessions set last_id = greatest(last_id, sent.last) where session_id = sent.session_id;
  end loop;
  return null;
end $$;

-- Down Migration

create or replace function queue_pushes() returns trigger language plpgsql as $$
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
alter table pushes drop column round;
