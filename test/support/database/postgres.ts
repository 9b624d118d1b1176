/** A fresh, migrated database for one test file: a copy of the run's template; and locks between files. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { execute } from './sql.ts';

export type TestDatabase = {
  url: string;
  /** Removes the database, even with open connections. */
  drop(): Promise<void>;
};

const urlOf = (database: string): string =>
  inject('postgresUrl').replace(/%7Bdatabase%7D|\{database\}/i, database);

const createDatabase = async (template: string): Promise<TestDatabase> => {
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Without syncing, copying files takes a third of the processor time of copying pages through the log.
  const copied = `template ${template} strategy = file_copy`;
  await execute(urlOf('postgres'), `create database ${name} ${copied}`);
  return {
    url: urlOf(name),
    drop: async () => {
      await execute(urlOf('postgres'), `drop database if exists ${name} with (force)`);
    },
  };
};

/** Copies the template into a database of its own. */
export const testDatabase = (): Promise<TestDatabase> => createDatabase('svc_template');

/** Creates a database without any migration. */
export const emptyDatabase = (): Promise<TestDatabase> => createDatabase('template1');

/** Waits until no other test file of the run holds this lock, and holds it until the returned function is called. */
export const keep = async (what: string): Promise<() => Promise<void>> => {
  const client = new pg.Client({ connectionString: urlOf('postgres') });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock(hashtext($1))', [what]);
  } catch (error) {
    await client.end();
    throw error;
  }
  return () => client.end(); // the server releases the lock with its connection
};

/** Runs an action that only one test file of a run may perform at a time. */
export const exclusively = async <Result>(
  what: string,
  act: () => Promise<Result>,
): Promise<Result> => {
  const letGo = await keep(what);
  try {
    return await act();
  } finally {
    await letGo();
  }
};
