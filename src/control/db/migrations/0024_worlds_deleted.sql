-- Up Migration

-- An archived world is read, and neither opened nor pushed to. A deleted one is there for its sessions alone: its slug
-- is its id from then on, so that another may have what is now `former_slug`. `emptied_at`: its blobs were given up.
alter table worlds
  add column archived_at timestamptz,
  add column deleted_at timestamptz,
  add column former_slug text,
  add column emptied_at timestamptz;
create index worlds_deleted on worlds (deleted_at) where deleted_at is not null and emptied_at is null;

-- As before; worlds that were deleted do not count.
create or replace function begin_upload(
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
  if usual_worlds is not null then
    select (select count(*) from worlds where project_id = project and deleted_at is null)
         + (select count(*) from uploads where project_id = project and id <> upload and makes_world)
      into used;
    if used >= most_worlds then
      quota := 'worlds';
      most := most_worlds;
      return;
    end if;
  end if;
  select (select coalesce(sum(bytes), 0) from versions where project_id = project)
       + (select coalesce(sum(bytes), 0) from uploads where project_id = project and id <> upload)
    into used;
  if used + size > most_mib * 1048576::bigint then
    quota := 'blob_mib';
    most := most_mib;
    return;
  end if;
  insert into uploads (id, project_id, blobs, bytes, makes_world)
    values (upload, project, needed, size, usual_worlds is not null)
    on conflict (id) do update set blobs = excluded.blobs, bytes = excluded.bytes, began_at = now();
end $$;

-- Down Migration

create or replace function begin_upload(
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
  if usual_worlds is not null then
    select (select count(*) from worlds where project_id = project)
         + (select count(*) from uploads where project_id = project and id <> upload and makes_world)
      into used;
    if used >= most_worlds then
      quota := 'worlds';
      most := most_worlds;
      return;
    end if;
  end if;
  select (select coalesce(sum(bytes), 0) from versions where project_id = project)
       + (select coalesce(sum(bytes), 0) from uploads where project_id = project and id <> upload)
    into used;
  if used + size > most_mib * 1048576::bigint then
    quota := 'blob_mib';
    most := most_mib;
    return;
  end if;
  insert into uploads (id, project_id, blobs, bytes, makes_world)
    values (upload, project, needed, size, usual_worlds is not null)
    on conflict (id) do update set blobs = excluded.blobs, bytes = excluded.bytes, began_at = now();
end $$;
drop index worlds_deleted;
alter table worlds drop column archived_at, drop column deleted_at, drop column former_slug, drop column emptied_at;
