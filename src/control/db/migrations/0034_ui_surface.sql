-- Up Migration

-- Whether a version serves a page; null: found out when a list first shows it.
alter table versions add column has_ui boolean;

-- Down Migration

alter table versions drop column has_ui;
