-- Up Migration

-- Blobs that nobody has in memory at once are in pieces, where an installation keeps them in its database; `size`
-- is that of all of them (null: the bytes are in the row itself).
alter table blobs add column size bigint;
create table blob_pieces (
  digest text not null,
  ordinal integer not null,
  bytes bytea not null,
  primary key (digest, ordinal)
);
alter table blob_pieces alter column bytes set storage external;

-- Down Migration

drop table blob_pieces;
alter table blobs drop column size;
