-- Up Migration

-- What the browsers of a session showed, where it was asked for when the session was opened.
create table browser_recordings (
  session_id text primary key references sessions on delete cascade,
  -- When its first picture was taken; all times are milliseconds from then.
  began_at timestamptz,
  end_ms bigint not null default 0,
  pictures integer not null default 0,
  bytes bigint not null default 0,
  -- The number of the next part.
  next_part integer not null default 0,
  -- When it was cut, as there was no room for more.
  cut_at timestamptz,
  -- When its pictures were given up.
  dropped_at timestamptz
);
create index browser_recordings_kept on browser_recordings (session_id) where dropped_at is null;

-- Its parts. One is written down before its bytes are stored, so that bytes that nobody knows of do not stay.
create table browser_recording_parts (
  session_id text not null references browser_recordings on delete cascade,
  number integer not null,
  start_ms bigint not null,
  end_ms bigint not null,
  bytes integer not null,
  mark text check (mark in ('start', 'reset', 'restored', 'reclaimed')),
  digest text not null,
  is_stored boolean not null default false,
  primary key (session_id, number)
);

-- Down Migration

drop table browser_recording_parts, browser_recordings;
