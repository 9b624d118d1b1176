-- Up Migration

-- Which secret the session's token is made with, by its mark: whichever secrets are in use later, and whichever
-- replica is asked, the token stays that of the opening. Null: opened by a release before this one.
alter table sessions add column secret_mark text;

-- Down Migration

alter table sessions drop column secret_mark;
