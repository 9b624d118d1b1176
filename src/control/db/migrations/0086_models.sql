-- Up Migration

-- Models of projects, with what they cost. Tiers are JSON text that was checked before it was stored.
create table models (
  key uuid primary key,
  project_id text not null,
  id text not null,
  model_name text not null,
  match_pattern text not null,
  start_date timestamptz,
  unit text,
  tokenizer_id text,
  tokenizer_config text,
  tiers text not null,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  constraint models_name unique (project_id, model_name)
);

-- Raised by whatever changes the models of a project; one without a row has never had any.
create table model_lists (
  project_id text primary key,
  revision bigint not null
);

-- What an observation costs by the model that it named, as it was when that was written (src/observability/pricing.ts).
alter table observations add column pricing text;

-- Down Migration

alter table observations drop column pricing;
drop table model_lists, models;
