-- Up Migration

-- Whether a version has routes, and so an OpenAPI document; null: found out when a list first shows it.
alter table versions add column has_routes boolean;

-- Down Migration

alter table versions drop column has_routes;
