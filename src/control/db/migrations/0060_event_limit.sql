-- Up Migration

-- Events of agents that the project takes in a month; null: any number.
alter table projects add column event_limit integer;

-- Down Migration

alter table projects drop column event_limit;
