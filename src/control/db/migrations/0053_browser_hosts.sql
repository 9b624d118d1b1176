-- Up Migration

-- A control plane from before there were browsers launches one for an orchestrator that has them, and does not say of
-- what kind it is. The size tells.
create function hosts_kind_of_size() returns trigger language plpgsql as $$
begin
  new.kind := 'browser';
  return new;
end $$;
create trigger hosts_kind before insert on hosts for each row
  when (new.size = ':browser' and new.kind = 'world') execute function hosts_kind_of_size();

-- Down Migration

drop trigger hosts_kind on hosts;
drop function hosts_kind_of_size();
