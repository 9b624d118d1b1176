/**
 * One control plane for all files that a worker process runs, with an organization and a project for each file. Files
 * need not start a control plane each, since the product serves many projects. Some files do start their own
 * (`own-control.ts`): those that change its configuration, stop it, or inspect what belongs to no project (hosts,
 * pools, the operator's views).
 */
import { createHash, randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { testDatabase } from '../database/postgres.ts';
import { callersOf, type StartedControl, startTestControl, type TestControl } from './control.ts';
import { createNotes } from './own-control.ts';

/** Ends with the process; `global-setup.ts` removes PostgreSQL and the folder of the run. */
let started: Promise<StartedControl> | undefined;

const start = async (): Promise<StartedControl> =>
  await startTestControl({
    databaseUrl: (await testDatabase()).url,
    parentFolder: inject('runFolder'),
  });

type KeyPair = { publicKey: string; secretKey: string };

const newKeyPair = (): KeyPair => ({
  publicKey: `pk-${randomUUID()}`,
  secretKey: `sk-${randomUUID()}`,
});

/** Creates an organization with one project, and a key pair of each. */
const addProject = async ({ sql }: StartedControl): Promise<KeyPair & { account: KeyPair }> => {
  const [organizationId, projectId] = [`org-${randomUUID()}`, `prj-${randomUUID()}`];
  const [pair, account] = [newKeyPair(), newKeyPair()];
  await sql('insert into organizations (id, slug, name) values ($1, $1, $1)', [organizationId]);
  await sql(
    `insert into projects (id, organization_id, slug, name) values ($1, $2, 'default', 'default')`,
    [projectId, organizationId],
  );
  const addKeys = ({ publicKey, secretKey }: KeyPair, project: string | null) =>
    sql(
      `insert into keys (id, organization_id, project_id, public_key, secret_hash)
       values ($1, $2, $3, $1, $4)`,
      [publicKey, organizationId, project, createHash('sha256').update(secretKey).digest()],
    );
  await addKeys(pair, projectId);
  await addKeys(account, null);
  return { ...pair, account };
};

/** Returns the worker's control plane with the clients of a new project; the first file of a worker starts it. */
export const shareControl = async (): Promise<TestControl> => {
  started ??= start();
  const control = await started;
  const { publicKey, secretKey, account } = await addProject(control);
  const accountAuthorization = basicAuthorization(account.publicKey, account.secretKey);
  return callersOf(control, { publicKey, secretKey, accountAuthorization });
};

/** Returns the worker's control plane with the clients of a new project that has the world `notes`. */
export const shareNotesControl = async (): Promise<TestControl> => {
  const control = await shareControl();
  await createNotes(control);
  return control;
};
