-- Up Migration

-- Events that were taken, together by their trace and the minutes in which they were made (src/control/db/observability/seen-events.ts):
-- one row for most batches, where `ingested_events` had one for each event. Remembered as those are. What was taken
-- before this table came is merged with itself when it is sent again, which changes nothing.
create table taken_events (
  key uuid not null,
  week integer not null,
  -- Numbers of 52 bits, made of the events' ids.
  events bigint[] not null,
  primary key (key, week)
) partition by range (week);

-- Digests have nothing to compress.
alter table taken_events alter column events set storage external;

-- Down Migration

drop table taken_events;
