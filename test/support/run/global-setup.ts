/**
 * Starts one PostgreSQL for a whole run of the tests on real parts, and creates a migrated template database in it,
 * from which `testDatabase()` copies. `fsync` is off, since nothing here outlives the run. Every project that needs it
 * names this file; the first of them starts it for all.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../../src/cli/up/postgres.ts';
import { migrate } from '../../../src/control/db/core/migrate.ts';
import { execute } from '../database/sql.ts';

const templateDatabase = 'svc_template';

declare module 'vitest' {
  interface ProvidedContext {
    /** Connection string with `{database}` in place of the database's name. */
    postgresUrl: string;
    /** Folder that is removed when the run ends. */
    runFolder: string;
  }
}

export const setup = async (project: TestProject): Promise<(() => Promise<void>) | undefined> => {
  if ('postgresUrl' in project.getProvidedContext()) return undefined;
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-test-pg-'));
  const server = await startPostgres({
    dataDir: join(dataDir, 'pg'),
    flags: { fsync: 'off', max_connections: '200' },
  });
  await execute(server.url('postgres'), `create database ${templateDatabase}`);
  await migrate(server.url(templateDatabase));
  project.vitest.provide('postgresUrl', server.url('{database}'));
  project.vitest.provide('runFolder', dataDir);
  return async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
};
