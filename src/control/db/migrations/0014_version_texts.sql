-- Up Migration

-- What answers tell of a version, as JSON text by name: made once, when the version was compiled, so that
-- its length is known before it is read. A version of an earlier release gets its texts when one is asked for.
create table version_texts (
  version_id text not null references versions,
  name text not null,
  text text not null,
  primary key (version_id, name)
);

-- Down Migration

drop table version_texts;
