-- Up Migration

-- Who sent a file: a public key, or the e-mail address of a token's user; empty for files of before.
alter table files add column author text not null default '';
alter table awaited_files add column author text not null default '';

-- Down Migration

alter table awaited_files drop column author;
alter table files drop column author;
