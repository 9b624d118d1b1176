-- Each acquisition of a lease gets a new epoch, also after a release in between. So a request of a former holder
-- names an epoch that has ended, and is refused.

-- Up Migration

create sequence lease_epochs;

alter table leases add column epoch bigint not null default nextval('lease_epochs');

-- Down Migration

alter table leases drop column epoch;
drop sequence lease_epochs;
