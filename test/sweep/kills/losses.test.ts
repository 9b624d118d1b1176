/**
 * Tests faults of the whole service, and faults that last until they are repaired: a full disk, a burst of calls, lost
 * blobs, and an emptied database. All run on one service of processes. Slow faults run only in long sweeps.
 */
import { closeSync, openSync } from 'node:fs';
import { readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isReady } from '#domain/session.ts';
import type { Digest } from '#domain/world.ts';
import { pause } from '#runtime/pause.ts';
import { basicAuthorization } from '#wire/client.ts';
import { answerCall } from '#wire/host-api/operations.ts';
import { createWorld, listCalls } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { pathOf } from '../../../src/control/platform/blobs/blobs.ts';
import { call, close, open } from '../../support/control/sessions.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';
import { findRuntimes, isLong, isSingle } from './extent.ts';
import { type Life, live } from './lives.ts';
import { type Moment, moments } from './moments.ts';
import { rest, within } from './run-case.ts';
import { beginWorld, type Service, startService } from './service.ts';

const timeoutMs = 180_000;
const caseMs = 60_000;

let service: Service;

/** Returns everything that went wrong for a client. */
const wrongsOf = ({ session, calls, refusals }: Life): unknown[] => [
  ...refusals,
  ...(session?.state === 'CLOSED' ? [] : [session]),
  ...calls.filter(({ state }) => state !== 'succeeded'),
];

const expectWorking = async (): Promise<void> => {
  expect(wrongsOf(await within(live(service.direct, true), caseMs, 'a session'))).toEqual([]);
};

/** Sends a single request to the public API, without retries. */
const post = (path: string, body: unknown): Promise<Response> => {
  const { publicKey, secretKey, url } = service.network;
  return fetch(`${url}/api/public${path}`, {
    method: 'POST',
    headers: {
      authorization: basicAuthorization(publicKey, secretKey),
      'content-type': 'application/json',
      connection: 'close', // so that no idle socket is left
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(caseMs),
  });
};

const readReady = async (query = '') => {
  const answer = await fetch(`${service.network.internalUrl}/ready${query}`);
  return { status: answer.status, text: await answer.text() };
};

const restart = async (logTo?: number): Promise<void> => {
  await service.network.control.end('SIGTERM');
  await service.network.restartControl(logTo);
};

/** Makes the folder of blobs unwritable: existing blobs can be read, and none can be added. */
const fillBlobs = async (): Promise<() => Promise<void>> => {
  const taken = new Set(await readdir(service.blobDir));
  const folders = Array.from({ length: 256 }, (_, at) => at.toString(16).padStart(2, '0'));
  const full = [...folders.filter((name) => !taken.has(name)), '.room'].map((name) =>
    join(service.blobDir, name),
  );
  await Promise.all(full.map((path) => symlink('/dev/full', path)));
  return async () => {
    await Promise.all(full.map((path) => rm(path, { force: true })));
  };
};

/** Number of calls, above the limit of a session's queue. */
const burst = 1_050;

/** Sends this many calls at once; returns the statuses. */
const sendBurst = async ({ id }: SessionView): Promise<number[]> => {
  const answers = await Promise.all(
    Array.from({ length: burst }, () => post(`/world-sessions/${id}/calls`, { kind: 'state' })),
  );
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  return answers.map(({ status }) => status);
};

/** Maximum number of rounds of sessions until a moment occurs. */
const mostLives = 4;
const betweenLivesMs = 3_000;

/** Sends the burst to the session at the moment, while other sessions run; returns what both experienced. */
const strikeWithBurst = async (moment: Moment, session: SessionView) => {
  const struck = Promise.withResolvers<number[]>();
  service.links[moment.link].strikeAt(moment, async () => {
    await sendBurst(session).then(struck.resolve, struck.reject);
  });
  let hasStruck = false;
  const noted = struck.promise.then(
    () => {
      hasStruck = true;
    },
    () => undefined,
  );
  const lived: Life[] = [];
  // Every second host is not reused: some moments need one that ends and one that is launched.
  while (!hasStruck && lived.length < mostLives) {
    lived.push(await within(live(service.client, lived.length % 2 === 0), caseMs, 'a session'));
    await Promise.race([noted, pause(betweenLivesMs)]);
  }
  service.links[moment.link].disarm();
  const statuses = await within(struck.promise, caseMs, `the moment "${moment.name}"`);
  return { statuses, wrongs: lived.flatMap(wrongsOf) };
};

/** Moments of the burst; in a short run only one: the host has an answer to send while the burst arrives. */
const burstMoments = moments.filter(
  ({ operation, edge }) => isLong || (operation === answerCall && edge === 'arriving'),
);

describe.runIf((await findRuntimes()).includes('process') && !isSingle)('the service', () => {
  beforeAll(async () => {
    service = await startService('process');
  });

  afterAll(() => service.stop());

  it('fails no session on a full disk; readiness and the refusal of a new world name the disk', {
    timeout: timeoutMs,
  }, async () => {
    const log = openSync('/dev/full', 'w');
    await restart(log);
    closeSync(log);
    const makeRoom = await fillBlobs();
    const result = `blobs cannot be written to ${service.blobDir}`;
    expect(await readReady()).toMatchObject({ status: 503, text: expect.stringContaining(result) });
    expect(await readReady('?exclude=room')).toMatchObject({ status: 200 });
    const made = await post('/worlds', { slug: 'full', from: encodeTree(notesWorld()) });
    expect({ status: made.status, after: made.headers.get('retry-after') }).toEqual({
      status: 503,
      after: '1',
    });
    expect(await made.json()).toMatchObject({ message: expect.stringContaining(result) });
    await expectWorking();
    await makeRoom();
    expect((await post('/worlds', { slug: 'full', from: encodeTree(notesWorld()) })).status).toBe(
      201,
    );
    expect(await readReady()).toMatchObject({ status: 200 });
    expect(await rest(service)).toEqual([]);
  });

  it.each(burstMoments)(
    `accepts each of ${burst} calls at once or answers it with 429, at $name`,
    { timeout: timeoutMs },
    async (moment) => {
      const session = await open(service.direct, { slug: 'notes', reuseWarm: true });
      const { statuses, wrongs } = await strikeWithBurst(moment, session);
      const params = { sessionId: session.id };
      const { body } = await service.direct.send(listCalls, { params, query: { limit: 1 } });
      await close(service.direct, session.id);
      expect(wrongs).toEqual([]);
      expect(statuses.filter((status) => status !== 202 && status !== 429)).toEqual([]);
      expect(statuses.filter((status) => status === 202)).toHaveLength(body.meta.totalItems);
      expect(await rest(service)).toEqual([]);
    },
  );

  it('fails only the sessions of a world whose blobs are lost, names that world, and can create it again', {
    timeout: timeoutMs,
  }, async () => {
    const { direct, network, blobDir } = service;
    const slug = 'lost';
    const from = encodeTree(notesWorld());
    const data = { rows: { folders: [{ id: 9, name: 'of its own' }] } };
    const { version } = (await direct.send(createWorld, { body: { slug, from, data } })).body;
    const [row] = await network.sql<{ snapshot: Digest }>(
      'select snapshot from versions where id = $1',
      [version.id],
    );
    const { snapshot } = row as { snapshot: Digest };
    const other = await open(direct, { slug: 'notes', reuseWarm: true });
    await rm(join(blobDir, pathOf(snapshot)));
    await restart(); // otherwise it would keep the lost data in memory
    const failed = await open(direct, { slug, reuseWarm: true });
    expect(failed).toMatchObject({
      state: 'FAILED',
      endReason: 'provision_failed',
      error: { code: 'load_failed', message: expect.stringContaining(snapshot) },
    });
    const died = await network.sql(
      `select id, end_reason from hosts where end_reason = 'load_failed'`,
    );
    expect(died).toHaveLength(1);
    expect(await call(direct, other.id, { kind: 'state' })).toMatchObject({ state: 'succeeded' });
    await close(direct, other.id);
    const again = (await direct.send(createWorld, { body: { slug, from } })).body;
    expect(again.version.number).toBe(version.number + 1);
    const session = await open(direct, { slug, reuseWarm: true });
    expect(isReady(session.state)).toBe(true);
    await close(direct, session.id);
    expect(await rest(service)).toEqual([]);
  });

  it.runIf(isLong)(
    'ends the control plane when its database is emptied, and works when it is started again',
    {
      timeout: timeoutMs,
    },
    async () => {
      const { network } = service;
      await open(service.direct, { slug: 'notes', reuseWarm: true });
      await network.sql('drop schema public cascade');
      await network.sql('create schema public');
      expect(await within(network.control.ended, caseMs, 'the end of the control plane')).toBe(1);
      await network.restartControl();
      await beginWorld(network);
      await expectWorking();
      expect(await rest(service)).toEqual([]);
    },
  );
});
