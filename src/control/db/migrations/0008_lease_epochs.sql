-- Each time that a lease is given to somebody it gets an epoch of its own, also after it was given up in
-- between: what a former holder still says names an epoch that is over.

-- Up Migration

create sequence lease_epochs;

alter table leases add column epoch bigint not null default nextval('lease_epochs');

-- Down Migration

alter table leases drop column epoch;
drop sequence lease_epochs;
