-- Up Migration

-- Files of a project. Folders are rows that name the one they are in, so that a folder is moved by one row whatever
-- lies in it. A root has no parent; nor has a folder that was deleted, whose files are removed bit by bit.
create table file_folders (
  id text primary key,
  project_id text not null references projects,
  parent_id text references file_folders,
  name text collate "C" not null,
  -- Those directly in it.
  files integer not null default 0,
  folders integer not null default 0,
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index file_folders_names on file_folders (parent_id, name) where parent_id is not null;
create unique index file_folders_roots on file_folders (project_id)
  where parent_id is null and deleted_at is null;
create index file_folders_deleted on file_folders (deleted_at) where deleted_at is not null;

create table files (
  id text primary key,
  project_id text not null references projects,
  folder_id text not null references file_folders,
  name text collate "C" not null,
  digest text not null,
  bytes bigint not null,
  content_type text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index files_names on files (folder_id, name);
create index files_digest on files (digest);

-- Bytes that are to come to a project. The upload of the same id holds them until they are confirmed or given up.
create table awaited_files (
  id text primary key,
  project_id text not null references projects,
  path text,
  digest text not null,
  bytes bigint not null,
  content_type text not null,
  overwrite boolean not null default false,
  received_at timestamptz,
  created_at timestamptz not null default now()
);
create index awaited_files_oldest on awaited_files (created_at);

-- Bytes of the files of a project, each counted, whatever else has the same.
create table kept_bytes (
  project_id text primary key references projects,
  bytes bigint not null
);

-- As before; bytes of files count, too.
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
       + (select coalesce(sum(bytes), 0) from kept_bytes where project_id = project)
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

drop table kept_bytes, awaited_files, files, file_folders;
