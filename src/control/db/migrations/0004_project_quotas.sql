-- Up Migration

-- What a project may use; null: what the installation gives every project.
alter table projects
  add column quota_sessions integer check (quota_sessions > 0),
  add column quota_opens_per_minute integer check (quota_opens_per_minute > 0);

-- The sessions that count as open. A final state and `closed_at` come together, see `sessions`.
create index sessions_unclosed on sessions (project_id) where closed_at is null;

-- Whether a project has so many sessions open.
create function has_sessions(project text, many integer) returns boolean
language plpgsql volatile as $$ begin
  return exists (
    select from sessions where project_id = project and closed_at is null offset many - 1
  );
end $$;

-- When the latest so many opens of a project were not all within a minute any more; null: they are
-- not now. A session is written with now() as its time: by those times no minute holds too many.
create function opens_leave_at(project text, many integer) returns timestamptz
language plpgsql volatile as $$ begin
  return (
    select created_at + interval '1 minute' from sessions
     where project_id = project and created_at > now() - interval '1 minute'
     order by created_at desc limit 1 offset many - 1
  );
end $$;

-- Which quota forbids the project another session now, if one does: its name, its limit, and for opens
-- the milliseconds until there is room. What is decided holds until the transaction ends:
--
-- * Where a quota is nearly used up, opens of the project are decided one after another, under a lock
--   that excludes all others.
-- * While there is room for as many as there are lanes, opens share that lock and each takes a lane.
--   So no more than the lanes are under way unseen, and those fit.
--
-- These are functions because a statement sees the database of its beginning: only the queries of
-- volatile functions see what was committed while a lock was waited for.
create function refuse_open(
  project text, usual_sessions integer, usual_opens integer,
  out quota text, out most integer, out retry_after_ms integer
) language plpgsql volatile as $$
declare
  lanes constant integer := 16;
  -- Half of what there may be: the lanes are the numbers after it.
  gate constant bigint := hashtextextended('opens ' || project, 0) / 2;
  has_lane boolean;
  most_sessions integer;
  most_opens integer;
  leave_at timestamptz;
begin
  select coalesce(p.quota_sessions, usual_sessions), coalesce(p.quota_opens_per_minute, usual_opens)
    into most_sessions, most_opens from projects p where p.id = project;

  if least(most_sessions, most_opens) >= lanes then
    begin
      perform pg_advisory_xact_lock_shared(gate);
      for lane in 1 .. lanes loop
        has_lane := pg_try_advisory_xact_lock(gate + lane);
        exit when has_lane;
      end loop;
      if not has_lane then
        perform pg_advisory_xact_lock(gate + 1 + pg_backend_pid() % lanes);
      end if;
      if not has_sessions(project, most_sessions - lanes + 1)
        and opens_leave_at(project, most_opens - lanes + 1) is null then
        return;
      end if;
      -- Failing lets go of both locks: two that kept theirs would wait for each other at the gate.
      raise exception using errcode = 'QUOTA';
    exception when sqlstate 'QUOTA' then null;
    end;
  end if;

  perform pg_advisory_xact_lock(gate);
  if has_sessions(project, most_sessions) then
    quota := 'sessions';
    most := most_sessions;
    return;
  end if;
  leave_at := opens_leave_at(project, most_opens);
  if leave_at is not null then
    quota := 'opens_per_minute';
    most := most_opens;
    retry_after_ms := greatest(1, ceil(extract(epoch from leave_at - clock_timestamp()) * 1000));
  end if;
end $$;

-- Down Migration

drop function refuse_open, opens_leave_at, has_sessions;
drop index sessions_unclosed;
alter table projects drop column quota_sessions, drop column quota_opens_per_minute;
