/**
 * Migrates a database to this program's schema. Runs the plain SQL files of `migrations/` in the order of their
 * numbers, with node-pg-migrate. Each file runs in its own transaction, so that no migration holds locks while another
 * one runs. Replicas that start at the same time wait for each other by an advisory lock. A migration that has run is
 * never edited; a later migration corrects it.
 */
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import { AppError } from '#domain/error.ts';
import { type Queryable, statement } from './database.ts';

const dir = fileURLToPath(new URL('../migrations', import.meta.url));

/** Runs the migrations that have not run yet, and returns their names. */
export const migrate = async (databaseUrl: string): Promise<string[]> => {
  try {
    const ran = await runner({
      databaseUrl,
      dir,
      direction: 'up',
      migrationsTable: 'migrations',
      advisoryLockMode: 'wait',
      singleTransaction: false,
      log: () => {},
    });
    return ran.map(({ name }) => name);
  } catch (cause) {
    throw new AppError('unavailable', 'the database cannot be migrated', { cause });
  }
};

const schemaStatement = statement('check_schema', 'select name from migrations order by id');

/** Throws `unavailable` if the database does not answer or a migration of this program has not run in it. */
export const checkSchema = async (db: Queryable): Promise<void> => {
  const rows = await db.query<{ name: string }>(schemaStatement, []);
  const ran = new Set(rows.map(({ name }) => name));
  const wanted = (await readdir(dir)).filter((file) => file.endsWith('.sql'));
  const missing = wanted.filter((file) => !ran.has(file.replace(/\.sql$/, '')));
  if (missing.length > 0) {
    throw new AppError('unavailable', `the database lacks the migrations ${missing.join(', ')}`);
  }
};
