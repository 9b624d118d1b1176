-- Up Migration

-- How a version came to be: what made it, the public key of who did, and what it changed of the version before
-- (null: made by a release before this one, which did not say).
alter table versions
  add column origin text not null default 'create'
    check (origin in ('create', 'push', 'import', 'publish', 'link')),
  add column author text,
  add column changes json,
-- Of each entity how many rows came from the tree. They are the first ones; those after them were given or
-- imported, and a push keeps them. Null: made by a release before this one, see `worlds/compile/kept-rows.ts`.
  add column tree_rows json;

-- Names that the users of a world give to its versions. Each names one of them, and may be set anew.
create table version_labels (
  world_id text not null references worlds,
  label text not null,
  version_id text not null references versions,
  set_at timestamptz not null default now(),
  primary key (world_id, label)
);
create index version_labels_version on version_labels (version_id, label);

-- Whether an upload is of a new world, and not of another version of one that is there.
alter table uploads add column makes_world boolean not null default true;

-- As before; a version of a world that is there has no number of worlds to keep to, which `usual_worlds` says by
-- being null.
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
alter table uploads drop column makes_world;

drop table version_labels;
alter table versions drop column origin, drop column author, drop column changes, drop column tree_rows;
