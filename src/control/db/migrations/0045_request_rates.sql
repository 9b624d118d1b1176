-- Up Migration

-- How many requests control planes took for a key or token in the latest minute that it made any in.
create table request_minutes (
  credential_id text primary key,
  minute timestamptz not null,
  used integer not null
) with (fillfactor = 50);

-- Takes some of the requests of this minute, a twentieth of what there may be at most: so a control plane asks once for
-- many, and replicas together give no more than the limit. None is granted when all are taken.
create function take_requests(
  credential text, most integer, out granted integer, out untaken integer, out left_ms integer
) language plpgsql volatile as $$
declare
  at timestamptz;
  taken integer;
  current timestamptz;
begin
  insert into request_minutes (credential_id, minute, used) values (credential, '-infinity', 0)
    on conflict do nothing;
  select m.minute, m.used into at, taken from request_minutes m where m.credential_id = credential for update;
  current := date_trunc('minute', clock_timestamp());
  if at < current then
    taken := 0;
  else
    current := at;
  end if;
  granted := greatest(0, least(greatest(1, most / 20), most - taken));
  untaken := greatest(0, most - taken - granted);
  if granted > 0 then
    update request_minutes m set minute = current, used = taken + granted where m.credential_id = credential;
  end if;
  left_ms := greatest(1, ceil(extract(epoch from current + interval '1 minute' - clock_timestamp()) * 1000));
end $$;

-- Down Migration

drop function take_requests;
drop table request_minutes;
