-- Up Migration

-- One-time links into the surfaces that people enter, by the SHA-256 of their token. Used up is deleted.
create table surface_links (
  token_hash bytea primary key,
  session_id text not null references sessions,
  surface text not null check (surface in ('api', 'ui', 'browser')),
  expires_at timestamptz not null
);
create index surface_links_stale on surface_links (expires_at);

-- Down Migration

drop table surface_links;
