-- Up Migration

-- Requests also come from the page of a UI and by a hosted browser.
alter table requests drop constraint if exists requests_via_check;
alter table requests add constraint requests_via_check
  check (via in ('tool', 'api', 'ui', 'session', 'browser', 'webhook')) not valid;

-- Whether a version serves a page; null: found out when a list first shows it.
alter table versions add column has_ui boolean;

-- Down Migration

alter table versions drop column has_ui;
alter table requests drop constraint if exists requests_via_check;
alter table requests add constraint requests_via_check
  check (via in ('tool', 'api', 'session', 'webhook')) not valid;
