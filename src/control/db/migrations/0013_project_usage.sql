-- Up Migration

-- What a project may use besides sessions; null: what the installation gives every project.
alter table projects
  add column quota_calls_per_minute integer check (quota_calls_per_minute > 0),
  add column quota_queued_calls integer check (quota_queued_calls > 0),
  add column quota_worlds integer check (quota_worlds > 0),
  add column quota_blob_mib integer check (quota_blob_mib > 0),
  add column quota_ledger_mib integer check (quota_ledger_mib > 0),
  add column quota_links integer check (quota_links > 0),
  add column ledger_checked_at timestamptz not null default '-infinity';

-- Calls -----------------------------------------------------------------------------------------------

-- How many calls control planes took for a project in the latest minute that it made any in.
create table call_minutes (
  project_id text primary key references projects,
  minute timestamptz not null,
  used integer not null
) with (fillfactor = 50);

-- Takes some of a project's calls of this minute, a 64th of what it may make at most: so a control plane
-- asks once for many calls, and no row is written for each. None is granted when all are taken.
create function take_calls(
  project text, usual integer, out granted integer, out most integer, out left_ms integer
) language plpgsql volatile as $$
declare
  at timestamptz;
  taken integer;
  current timestamptz;
begin
  select coalesce(p.quota_calls_per_minute, usual) into most from projects p where p.id = project;
  insert into call_minutes (project_id, minute, used) values (project, '-infinity', 0)
    on conflict do nothing;
  select m.minute, m.used into at, taken from call_minutes m where m.project_id = project for update;
  current := date_trunc('minute', clock_timestamp());
  if at < current then
    taken := 0;
  else
    current := at;
  end if;
  granted := greatest(0, least(greatest(1, most / 64), most - taken));
  if granted > 0 then
    update call_minutes m set minute = current, used = taken + granted where m.project_id = project;
  end if;
  left_ms := greatest(1, ceil(extract(epoch from current + interval '1 minute' - clock_timestamp()) * 1000));
end $$;

-- How many calls of a project wait or run, and how many may.
create function queue_of(project text, usual integer, out queued integer, out most integer)
language plpgsql volatile as $$ begin
  select coalesce(p.quota_queued_calls, usual) into most from projects p where p.id = project;
  select coalesce(sum(s.open_calls), 0) into queued
    from sessions s where s.project_id = project and s.closed_at is null;
end $$;

-- Worlds and blobs ------------------------------------------------------------------------------------

-- The blobs that a version consists of, and their bytes. A blob that several versions have counts for
-- each: what a project uses does not depend on what others have. Null: not known yet, see `fillVersions`.
alter table versions
  add column blobs text[],
  add column bytes bigint not null default 0;
create index versions_unfilled on versions (id) where blobs is null;
create index versions_blobs on versions using gin (blobs);
create index versions_project on versions (project_id) include (bytes);

-- Worlds that are being made: the blobs that are written for one before its version is. A row that stays
-- is of a control plane that died or gave up; its blobs are removed unless something else has them.
create table uploads (
  id text primary key,
  project_id text not null references projects,
  blobs text[] not null,
  bytes bigint not null,
  began_at timestamptz not null default now()
);
create index uploads_project on uploads (project_id);
create index uploads_stale on uploads (began_at);

-- Blobs that nothing has and that are being removed. None is needed by an upload before it is gone from
-- here; whoever removes some has their rows locked until then.
create table doomed_blobs (digest text primary key);

-- Begins or widens an upload, unless a quota forbids it: then says which, and what may be. `doomed` says
-- that some of what it needs is being removed: nothing is begun, and it is to be asked again.
create function begin_upload(
  upload text, project text, needed text[], size bigint, usual_worlds integer, usual_mib integer,
  out quota text, out most integer, out doomed boolean
) language plpgsql volatile as $$
declare
  most_worlds integer;
  most_mib integer;
  used bigint;
begin
  -- Nobody decides meanwhile what is removed, see `collectUpload`.
  perform pg_advisory_xact_lock_shared(hashtextextended('blobs', 0));
  doomed := exists (select from doomed_blobs where digest = any(needed));
  if doomed then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('worlds ' || project, 0));
  select coalesce(p.quota_worlds, usual_worlds), coalesce(p.quota_blob_mib, usual_mib)
    into most_worlds, most_mib from projects p where p.id = project;
  select (select count(*) from worlds where project_id = project)
       + (select count(*) from uploads where project_id = project and id <> upload) into used;
  if used >= most_worlds then
    quota := 'worlds';
    most := most_worlds;
    return;
  end if;
  select (select coalesce(sum(bytes), 0) from versions where project_id = project)
       + (select coalesce(sum(bytes), 0) from uploads where project_id = project and id <> upload)
    into used;
  if used + size > most_mib * 1048576::bigint then
    quota := 'blob_mib';
    most := most_mib;
    return;
  end if;
  insert into uploads (id, project_id, blobs, bytes) values (upload, project, needed, size)
    on conflict (id) do update set blobs = excluded.blobs, bytes = excluded.bytes, began_at = now();
end $$;

-- Ledgers ---------------------------------------------------------------------------------------------

-- What is kept of a session's requests, and what is not any more because the project had no room. A
-- session that has none here yet is counted when it is written to, or by `fillLedgers`.
create table ledgers (
  session_id text primary key references sessions,
  project_id text not null references projects,
  bytes bigint not null,
  dropped_entries integer not null default 0,
  dropped_at timestamptz
);
create index ledgers_kept on ledgers (project_id, session_id) include (bytes) where bytes > 0;

-- Up to which session `fillLedgers` has counted; no row once all are.
create table ledger_fill (after text not null);
insert into ledger_fill values ('');

-- Entries are counted where they are written and deleted, whichever release does it.
create function count_ledger() returns trigger language plpgsql as $$
declare
  c record;
begin
  for c in select session_id, sum(bytes) as bytes from changed group by 1 order by 1 loop
    if tg_op = 'DELETE' then
      update ledgers set bytes = greatest(0, bytes - c.bytes) where session_id = c.session_id;
    else
      update ledgers set bytes = bytes + c.bytes where session_id = c.session_id;
      if not found then
        insert into ledgers as l (session_id, project_id, bytes)
          select s.id, s.project_id, (select sum(r.bytes) from requests r where r.session_id = s.id)
            from sessions s where s.id = c.session_id
          on conflict (session_id) do update set bytes = l.bytes + c.bytes;
      end if;
    end if;
  end loop;
  return null;
end $$;
create trigger count_written after insert on requests
  referencing new table as changed for each statement execute function count_ledger();
create trigger count_deleted after delete on requests
  referencing old table as changed for each statement execute function count_ledger();

-- Links -----------------------------------------------------------------------------------------------

-- How many links into its sessions a project may have, if it has that many; else null.
create function refuse_link(project text, usual integer) returns integer
language plpgsql volatile as $$
declare
  most integer;
begin
  perform pg_advisory_xact_lock(hashtextextended('links ' || project, 0));
  select coalesce(p.quota_links, usual) into most from projects p where p.id = project;
  if (select count(*) from surface_links l join sessions s on s.id = l.session_id
       where s.project_id = project and l.expires_at > now()) >= most then
    return most;
  end if;
  return null;
end $$;

-- Down Migration

drop function refuse_link;
drop trigger count_written on requests;
drop trigger count_deleted on requests;
drop function count_ledger;
drop table ledger_fill, ledgers;
drop function begin_upload;
drop table doomed_blobs, uploads;
drop index versions_blobs, versions_project, versions_unfilled;
alter table versions drop column blobs, drop column bytes;
drop function queue_of, take_calls;
drop table call_minutes;
alter table projects
  drop column quota_calls_per_minute, drop column quota_queued_calls, drop column quota_worlds,
  drop column quota_blob_mib, drop column quota_ledger_mib, drop column quota_links,
  drop column ledger_checked_at;
