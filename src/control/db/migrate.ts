/**
 * Brings a database to this program's schema: the plain SQL files of `migrations/`, in the order of
 * their numbers, run by node-pg-migrate. Replicas that start together wait for each other on an
 * advisory lock. A migration that has run is never edited; the next one corrects it.
 */
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import { AppError } from '#domain/error.ts';

const dir = fileURLToPath(new URL('migrations', import.meta.url));

/** Runs the migrations that are missing and returns their names. */
export const migrate = async (databaseUrl: string): Promise<string[]> => {
  try {
    const ran = await runner({
      databaseUrl,
      dir,
      direction: 'up',
      migrationsTable: 'migrations',
      advisoryLockMode: 'wait',
      log: () => {},
    });
    return ran.map(({ name }) => name);
  } catch (cause) {
    throw new AppError('unavailable', 'the database cannot be migrated', { cause });
  }
};
