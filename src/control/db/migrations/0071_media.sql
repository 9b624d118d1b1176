-- Up Migration

-- Bytes that stand beside traces and items of datasets: pictures, sounds, documents. The id is made of the digest, so
-- the same bytes are one in a project, whoever refers to them.
create table media (
  project_id text not null references projects,
  id text not null,
  digest text not null,
  bytes bigint not null,
  content_type text not null,
  -- Null: not there yet.
  uploaded_at timestamptz,
  upload_status integer,
  upload_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (project_id, id)
);
create index media_digest on media (digest);

-- What says that it has them; none of these has to be there yet.
create table media_links (
  project_id text not null,
  media_id text not null,
  trace_id text,
  observation_id text,
  dataset_id text,
  dataset_item_id text,
  field text not null,
  created_at timestamptz not null default now(),
  foreign key (project_id, media_id) references media,
  unique nulls not distinct (project_id, media_id, trace_id, observation_id, dataset_id, dataset_item_id, field)
);

create index awaited_media on awaited_files (project_id, digest) where path is null;

-- Down Migration

drop index awaited_media;
drop table media_links, media;
