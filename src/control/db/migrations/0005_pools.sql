-- Up Migration

-- What a host has and what a session asks for, see src/domain/pool.ts. A host's `tier` null serves both,
-- a session's `isolation` null is content with any.
alter table hosts
  add column tier text check (tier in ('standard', 'premium')),
  add column isolation text not null default 'container' check (
    isolation in ('process', 'container', 'gvisor', 'kata')
  ),
  add column size text not null default 'standard';

alter table sessions
  add column isolation text check (isolation in ('process', 'container', 'gvisor', 'kata')),
  add column size text not null default 'standard';

-- Down Migration

alter table sessions drop column isolation, drop column size;
alter table hosts drop column tier, drop column isolation, drop column size;
