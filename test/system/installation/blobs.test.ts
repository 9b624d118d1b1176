/**
 * Real processes that keep their blobs in a bucket, so that replicas on different machines share
 * only the bucket and the database. During an outage of the bucket some requests go on and others
 * wait.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { examine } from '#wire/admin-api/operations.ts';
import { createClient } from '#wire/client.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import { call, close, createNotes, open } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Balancer, startBalancer } from '../../support/programs/balancer.ts';
import { addressOf, type Network, startNetwork } from '../../support/programs/network.ts';
import { startProgram } from '../../support/programs/program.ts';
import { startTestBucket, type TestBucket } from '../../support/programs/s3.ts';

const adminToken = 'at-of-the-test';
let database: TestDatabase;
let bucket: TestBucket;
let balancer: Balancer;
let network: Network;

beforeAll(async () => {
  [database, bucket, balancer] = await Promise.all([
    testDatabase(),
    startTestBucket(),
    startBalancer(),
  ]);
  const { url: databaseUrl } = database;
  network = await startNetwork({
    databaseUrl,
    balancer,
    poolSize: 2,
    env: { ...bucket.env, SVC_ADMIN_TOKEN: adminToken },
  });
  await network.warm(2);
});

afterAll(async () => {
  await network.stop();
  await Promise.all([balancer.stop(), bucket.stop(), database.drop()]);
});

/** Replaces the running control plane by another one, which has no blobs in memory. */
const replaceControl = async (): Promise<void> => {
  const old = network.control;
  await network.restartControl();
  balancer.remove(addressOf(old));
  await old.end('SIGTERM');
};

const listNotes = { kind: 'tool', name: 'list_notes', input: {} } as const;

/** Returns the check of the blobs from `svc admin doctor`. */
const diagnosis = async () => {
  const baseUrl = `${network.internalUrl}/api/admin`;
  const operator = createClient({ baseUrl, authorization: `Bearer ${adminToken}` });
  const { checks } = (await operator.send(examine, {})).body;
  return checks.find(({ name }) => name === 'blobs');
};

const readiness = async () => {
  const answer = await fetch(`${addressOf(network.control)}/ready`);
  return { status: answer.status, body: (await answer.json()) as { checks: { blobs: string } } };
};

it('a world is served by another replica than the one that created it', async () => {
  await createNotes(network.client);
  await network.client.send(createWorld, { body: { slug: 'hosting', from: 'code-hosting' } });
  await replaceControl();
  for (const slug of ['notes', 'hosting']) {
    const session = await open(network.client, { slug });
    expect(session.state, session.error?.message).toBe('READY');
    const state = await call(network.client, session.id, { kind: 'state' });
    expect(state).toMatchObject({ state: 'succeeded' });
    expect((await close(network.client, session.id)).state).toBe('CLOSED');
  }
});

it('the service keeps running during an outage of the bucket, and requests that need the bucket succeed afterwards', async () => {
  const session = await open(network.client, { slug: 'notes' });
  await replaceControl();
  await network.warm(1);
  await bucket.door.shut();
  expect(await call(network.client, session.id, listNotes)).toMatchObject({ state: 'succeeded' });
  expect(await readiness()).toMatchObject({
    status: 200,
    body: { checks: { database: 'ok', blobs: expect.stringContaining(bucket.place.bucket) } },
  });
  expect(await diagnosis()).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('ECONNREFUSED'),
  });
  await expect(createNotes(network.client, 'more')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(`at ${bucket.door.url} cannot be used`),
  });

  const opening = open(network.client, { slug: 'hosting' });
  const assigned = async () => (await network.hosts()).filter(({ state }) => state === 'assigned');
  await until(async () => (await assigned()).length === 2, {
    timeoutMs: 20_000,
    what: 'a host with a session whose world cannot be loaded',
  });
  await bucket.door.open();
  expect((await opening).state).toBe('READY');
  await createNotes(network.client, 'more');
  expect((await readiness()).body.checks.blobs).toBe('ok');
  expect(await diagnosis()).toMatchObject({
    status: 'ok',
    message: expect.stringContaining(`s3://${bucket.place.bucket}/`),
  });
});

it('a control plane refuses to start on a bucket without access', async () => {
  const starting = startProgram('src/control/main.ts', {
    ...{ SVC_DATABASE_URL: database.url, SVC_SECRET: 'secret', SVC_POOL_TOKEN: 'pool token' },
    ...{ ...bucket.env, AWS_SECRET_ACCESS_KEY: 'hush-hush' },
  });
  const error = await starting.catch((reason: Error) => reason);
  expect(error).toMatchObject({ message: expect.stringContaining('s3:ListBucket') });
  expect(String(error)).not.toContain('hush-hush');
});
