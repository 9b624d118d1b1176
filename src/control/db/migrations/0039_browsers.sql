-- Up Migration

-- A session may have two hosts: one for its world, one for its browser.
alter table hosts add column kind text not null default 'world' check (kind in ('world', 'browser'));
drop index hosts_one_per_session;
create unique index hosts_one_of_a_kind on hosts (session_id, kind) where session_id is not null;

-- The browsers of sessions that asked for one, and who serves them now.
create table session_browsers (
  session_id text primary key references sessions on delete cascade,
  tier text not null check (tier in ('standard', 'premium')),
  host_id text references hosts,
  generation integer,
  -- Browsers that it was given since one of them was last ready.
  attempts integer not null default 0,
  -- Why the one before was lost; null: there was none.
  lost text,
  -- Where clients find it, from the first time that it was ready on.
  address text,
  wanted_since timestamptz not null default now(),
  assigned_at timestamptz,
  ready_at timestamptz
);
create index session_browsers_wanted on session_browsers (wanted_since, session_id) where host_id is null;
create index session_browsers_host on session_browsers (host_id) where host_id is not null;

-- What the browser of a session goes on from when it is lost: the last checkpoint, as JSON text.
create table browser_checkpoints (
  session_id text primary key references sessions on delete cascade,
  generation integer not null,
  sequence integer not null,
  content text not null,
  kept_at timestamptz not null default now()
);

-- What a one-time link opens: the surface, the surface to be looked at alone, or DevTools.
alter table surface_links add column opens text not null default 'all' check (opens in ('all', 'view', 'devtools'));

-- The tier of sessions that name none; null: that of the organization, and where it has none, standard.
alter table projects add column browser_tier text check (browser_tier in ('standard', 'premium'));
alter table organizations add column browser_tier text check (browser_tier in ('standard', 'premium'));

-- Down Migration

alter table organizations drop column browser_tier;
alter table projects drop column browser_tier;
delete from surface_links where opens <> 'all';
alter table surface_links drop column opens;
drop table browser_checkpoints, session_browsers;
update hosts set state = 'gone', session_id = null, end_reason = coalesce(end_reason, 'surplus') where kind = 'browser';
drop index hosts_one_of_a_kind;
create unique index hosts_one_per_session on hosts (session_id) where session_id is not null;
alter table hosts drop column kind;
