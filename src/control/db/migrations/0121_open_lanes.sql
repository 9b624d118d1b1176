-- Up Migration

-- Opens that a lane of a project may let pass without counting. Whoever counts those of the last minute counts what all
-- lanes may let pass as well; so no minute holds more than the quota. What is lost in a crash is counted again.
create unlogged table open_lanes (
  project_id text not null references projects on delete cascade,
  lane smallint not null,
  -- The quota by which it was counted.
  most integer not null,
  left_opens integer not null,
  -- The time of the open that counted. One that began before it would have to count more.
  counted_at timestamptz not null,
  primary key (project_id, lane)
) with (fillfactor = 20);

-- As before (0004_project_quotas.sql), but that opens of the last minute are not counted by each open:
--
-- * An open takes from what its lane has left. Where that is nothing it counts, and may leave the lane some more: up
--   to a 32nd of the quota. One open of a project does that at a time.
-- * Others that count meanwhile leave room for that, and for as many opens as there are lanes: those are under way unseen.
-- * Where that does not fit any more, opens are decided one after another, and no lane has anything left.
create or replace function refuse_open(
  project text, usual_sessions integer, usual_opens integer,
  out quota text, out most integer, out retry_after_ms integer
) language plpgsql volatile as $$
declare
  lanes constant integer := 16;
  -- Half of what there may be: the lanes are the numbers after it, and then comes who leaves a lane more.
  gate constant bigint := hashtextextended('opens ' || project, 0) / 2;
  own_lane integer;
  has_lane boolean;
  is_left boolean;
  is_only boolean := false;
  share integer;
  room integer;
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
        own_lane := lane;
        has_lane := pg_try_advisory_xact_lock(gate + lane);
        exit when has_lane;
      end loop;
      if not has_lane then
        own_lane := 1 + pg_backend_pid() % lanes;
        perform pg_advisory_xact_lock(gate + own_lane);
      end if;
      is_left := exists (
        select from open_lanes l
         where l.project_id = project and l.lane = own_lane and l.most = most_opens and l.left_opens > 0
           and l.counted_at <= now()
      );
      if not is_left then
        is_only := pg_try_advisory_xact_lock(gate + lanes + 1);
        share := most_opens / 32;
        room := most_opens - lanes - (case when is_only then 0 else share end) - (
          select count(*) + coalesce((select sum(l.left_opens) from open_lanes l where l.project_id = project), 0)
            from sessions s where s.project_id = project and s.created_at > now() - interval '1 minute'
        );
      end if;
      -- Failing lets go of all locks: two that kept theirs would wait for each other at the gate.
      if room < 0 or has_sessions(project, most_sessions - lanes + 1) then
        raise exception using errcode = 'QUOTA';
      end if;
      has_lane := true;
    exception when sqlstate 'QUOTA' then
      has_lane := false;
    end;
    if has_lane then
      if is_left then
        update open_lanes l set left_opens = l.left_opens - 1 where l.project_id = project and l.lane = own_lane;
      elsif is_only and least(share, room) > 0 then
        insert into open_lanes (project_id, lane, most, left_opens, counted_at)
          values (project, own_lane, most_opens, least(share, room), now())
          on conflict (project_id, lane) do update
            set most = excluded.most, left_opens = excluded.left_opens, counted_at = excluded.counted_at;
      end if;
      return;
    end if;
  end if;

  perform pg_advisory_xact_lock(gate);
  update open_lanes l set left_opens = 0 where l.project_id = project and l.left_opens > 0;
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

create or replace function refuse_open(
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
drop table open_lanes;
