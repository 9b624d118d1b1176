-- Up Migration

-- Bytes of worlds by their digest, where an installation keeps them in its database (SVC_BLOB_URL=database).
-- They are large and compressed where that pays, so they are not compressed again.
create table blobs (
  digest text primary key,
  bytes bytea not null
);
alter table blobs alter column bytes set storage external;

-- Down Migration

drop table blobs;
