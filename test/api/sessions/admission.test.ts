/** Tests opens beyond the capacity of the hosts: which opens wait, which are refused, and that none is lost. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { basicAuthorization } from '#wire/client.ts';
import { acquireLease, publishPools } from '#wire/pool-api/operations.ts';
import { closeSession, getSession, openSession } from '#wire/public-api/operations.ts';
import {
  baseState,
  clearPool,
  installation,
  type PlayedHost,
  warmHost,
} from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  // With a wait limit of 0 ms, every open that waits has waited too long.
  control = await startNotesControl({ opens: { most: 12, waitMs: 0 } });
});

afterEach(() => clearPool(control));

afterAll(() => control.stop());

const publish = async (maximum: number): Promise<void> => {
  await control.pool(acquireLease, { body: { installation, holder: 'test', ttlMs: 60_000 } });
  const pool = { name: 'default', tier: null, isolation: 'process', size: 'standard' } as const;
  const numbers = { minimum: 0, maximum, target: 1, held: null, worlds: [] };
  await control.pool(publishPools, { body: { installation, pools: [{ ...pool, ...numbers }] } });
};

const open = async (headers = {}) =>
  (await control.send(openSession, { body: { slug: 'notes', reuseWarm: true }, headers })).body;

/** Opens a session and returns the raw answer, whatever its status. */
const ask = () =>
  control.raw({
    method: 'POST',
    path: '/api/public/world-sessions',
    headers: {
      authorization: basicAuthorization(control.publicKey, control.secretKey),
      'content-type': 'application/json',
    },
    body: JSON.stringify({ slug: 'notes', reuseWarm: true }),
  });

const stateOf = async (sessionId: string) =>
  (await control.send(getSession, { params: { sessionId }, query: {} })).body.state;

const close = (sessionId: string) =>
  control.send(closeSession, { params: { sessionId }, body: { keepWarm: true } });

/** Serves the next session of the host, closes it, and makes the host warm again. */
const serveOne = async (host: PlayedHost): Promise<string> => {
  const assignment = await host.poll();
  await host.ready();
  const sessionId = assignment?.sessionId ?? '';
  await close(sessionId);
  await host.closed();
  await host.warm({ bundle: assignment?.bundle ?? baseState, stateDigest: baseState });
  return sessionId;
};

it('a full pool that reuses its hosts quickly answers 429 while opens wait, and serves every waiting open in order', async () => {
  await publish(1);
  const host = await warmHost(control);
  const waiting: string[] = [];
  const served: string[] = [];
  for (let nth = 0; nth < 9; nth += 1) waiting.push((await open()).id);
  let answer = await ask();
  while (answer.status !== 429) {
    waiting.push((answer.body as { id: string }).id);
    served.push(await serveOne(host));
    answer = await ask();
  }
  expect(answer).toMatchObject({
    headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    body: {
      error: 'exhausted',
      message: expect.stringContaining('more sessions are opened than the hosts can serve'),
      waiting: expect.any(Number),
      longestWaitMs: expect.any(Number),
      retryAfterMs: expect.any(Number),
    },
  });
  while (served.length < waiting.length) served.push(await serveOne(host));
  expect(served).toEqual(waiting);
  await until(async () => (await ask()).status < 300, { timeoutMs: 10_000, what: 'an open' });
});

it('a pool that can launch a host for each open queues opens up to the limit', async () => {
  await publish(20);
  const opened = [];
  for (let nth = 0; nth < 12; nth += 1) opened.push(await open({ 'idempotency-key': `k${nth}` }));
  await expect(open()).rejects.toMatchObject({
    code: 'exhausted',
    message: expect.stringContaining('SVC_OPEN_QUEUE is 12'),
  });
  expect((await open({ 'idempotency-key': 'k3' })).id).toBe(opened[3]?.id);
  for (const { id } of opened) expect(await stateOf(id)).toBe('PROVISIONING');
});
