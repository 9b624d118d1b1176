/**
 * Two projects of one installation, served by two control planes: one project uses all that it can get, and the other
 * must not be affected. Quotas are small.
 */
import { readdir } from 'node:fs/promises';
import { expect } from 'vitest';
import { parseSurfaceTemplate } from '#domain/surface-address.ts';
import { Secret } from '#runtime/secret.ts';
import { reap } from '#wire/pool-api/operations.ts';
import type { ControlConfig } from '../../../src/control/config.ts';
import { type TestDatabase, testDatabase } from '../database/postgres.ts';
import { encodeTree, notesWorld } from '../worlds/worlds.ts';
import { startTestControl, type TestControl } from './control.ts';
import { type PlayedHost, warmHost } from './host.ts';
import { type Answer, addNeighbour, type Neighbour } from './second-project.ts';

export const quotas = {
  callsPerMinute: 100_000,
  queuedCalls: 20,
  worlds: 4,
  blobMib: 1,
  ledgerMib: 1,
  links: 3,
  waits: 3,
};

const gatewayOf = (): ControlConfig['gateway'] => {
  const template = parseSurfaceTemplate('https://{session}--{surface}.worlds.test');
  if (template === undefined) throw new Error('the template is not taken');
  return { template, token: new Secret('gateway-token') };
};

/** Builds the body that creates the world `notes`, with another file in it. */
export const worldOf = (slug: string, extra = '') => ({
  slug,
  from: [
    ...encodeTree(notesWorld()),
    { path: 'extra.md', content: Buffer.from(extra).toString('base64') },
  ],
});

/** Returns how many requests succeeded. */
export const taken = (answers: readonly Answer[]): number =>
  answers.filter(({ status }) => status < 300).length;

/** Expects that all other requests were refused for a quota, which their answers name. */
export const expectRefusals = (answers: readonly Answer[], quota: string, limit: number): void => {
  for (const { status, headers, body } of answers.filter((answer) => answer.status >= 300)) {
    expect({ status, body }).toMatchObject({
      status: 429,
      body: { error: 'exhausted', quota, limit },
    });
    expect(body).toMatchObject({
      message: expect.stringContaining(`SVC_QUOTA_${quota.toUpperCase()}`),
    });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  }
};

export type TwoProjects = {
  database: TestDatabase;
  control: TestControl & { config: ControlConfig };
  replica: TestControl;
  /**
   * Project that uses all that it can get. It is new for each test, like the other project, and both have the world
   * `notes`.
   */
  greedy: Neighbour;
  other: Neighbour;
  /** Ends what the previous test has left, and creates both projects. */
  begin(): Promise<void>;
  /** Sends requests to both control planes alternately, all at once. */
  askAll(
    project: Neighbour,
    count: number,
    path: string,
    body: (index: number) => object,
  ): Promise<Answer[]>;
  /** Opens a session on a host of its own. */
  openOn(project: Neighbour): Promise<{ id: string; host: PlayedHost }>;
  runReaper(): Promise<unknown>;
  /** Returns every file of the blob store. */
  listBlobs(): Promise<string[]>;
  /** Returns the blobs that a version refers to. */
  listUsed(): Promise<string[]>;
  countUploads(): Promise<number | undefined>;
  stop(): Promise<void>;
};

const endAll = async ({ sql }: TestControl): Promise<void> => {
  await sql(
    `update sessions set state = 'CLOSED', end_reason = 'requested', closed_at = now()
      where closed_at is null`,
  );
  await sql(`update hosts set state = 'gone', session_id = null where state <> 'gone'`);
  await sql('delete from ledgers');
};

const addProject = async (control: TestControl): Promise<Neighbour> => {
  const project = await addNeighbour(control);
  expect((await project.ask('POST', '/worlds', worldOf('notes'))).status).toBe(201);
  return project;
};

/** Starts both control planes on a database of their own. */
export const startTwoProjects = async (): Promise<TwoProjects> => {
  const database = await testDatabase();
  const gateway = gatewayOf();
  const control = await startTestControl({ databaseUrl: database.url, quotas, gateway });
  const replica = await startTestControl({ databaseUrl: database.url, replicaOf: control });
  const stage: TwoProjects = {
    ...{ database, control, replica },
    greedy: await addProject(control),
    other: await addProject(control),
    async begin() {
      await endAll(control);
      stage.greedy = await addProject(control);
      stage.other = await addProject(control);
    },
    askAll: (project, count, path, body) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          project.ask('POST', path, body(index), index % 2 === 0 ? control : replica),
        ),
      ),
    async openOn(project) {
      const host = await warmHost(control);
      const { body } = await project.ask('POST', '/world-sessions', { slug: 'notes' });
      await host.poll();
      await host.ready();
      return { id: (body as { id: string }).id, host };
    },
    runReaper() {
      const hour = 3_600_000;
      const body = { idleMs: hour, maxAgeMs: hour, provisionMs: hour, closingMs: hour };
      return control.pool(reap, { body });
    },
    async listBlobs() {
      const { blobs } = control.config;
      if (blobs.kind !== 'folder') throw new Error('blobs are not in a folder');
      const entries = await readdir(blobs.folder, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    },
    async listUsed() {
      const rows = await control.sql<{ blob: string }>(
        'select distinct unnest(blobs) as blob from versions',
      );
      return rows.map(({ blob }) => blob.slice('sha256:'.length));
    },
    async countUploads() {
      const text = 'select count(*)::int as count from uploads';
      return (await control.sql<{ count: number }>(text))[0]?.count;
    },
    async stop() {
      await replica.stop();
      await control.stop();
      await database.drop();
    },
  };
  return stage;
};
