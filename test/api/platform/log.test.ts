/**
 * Tests the log of a control plane about sessions: each line has the ids by which an operator looks for it. The log is
 * on a full disk all the while, which must not affect any request.
 */
import { closeSync, openSync } from 'node:fs';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLines } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { basicAuthorization } from '#wire/client.ts';
import { heartbeat } from '#wire/host-api/operations.ts';
import { closeSession, ingest, listWorlds, openSession } from '#wire/public-api/operations.ts';
import { warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;
const lines: Record<string, unknown>[] = [];
let full: number;

beforeAll(async () => {
  full = openSync('/dev/full', 'w');
  const disk = openLines(full);
  const write = (line: string) => {
    lines.push(JSON.parse(line));
    disk.write(line);
  };
  control = await startNotesControl({ log: pino({}, { write }) });
});

afterAll(async () => {
  await control.stop();
  closeSync(full);
});

const open = async () => (await control.send(openSession, { body: { slug: 'notes' } })).body.id;

const toldOf = (sessionId: string) => lines.filter((line) => line.sessionId === sessionId);

it('the log has a line for each step of a session, with its host', async () => {
  const warm = await warmHost(control);
  const first = await open();
  await warm.poll();
  await warm.ready();
  const second = await open();
  const late = await warmHost(control);
  await control.send(closeSession, { params: { sessionId: first }, body: {} });
  await warm.calls();
  await warm.closed();
  expect(toldOf(first)).toMatchObject([
    { msg: 'session opened', hostId: warm.id, start: 'warm' },
    { msg: 'session ready', hostId: warm.id, start: 'warm' },
    { msg: 'session ended', hostId: warm.id, reason: 'requested' },
  ]);
  expect(toldOf(second)).toMatchObject([
    { msg: 'session opened', hostId: null, start: 'cold' },
    { msg: 'session assigned to a host', hostId: late.id },
  ]);
});

it('a request gets its own result although its log line cannot be written', async () => {
  const host = await warmHost(control);
  const before = lines.length;
  const elsewhere = control.asHost(host.token, '127.0.0.9');
  await expect(
    elsewhere(heartbeat, { params: { hostId: host.id }, body: { generation: 0, rssBytes: 0 } }),
  ).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('the host uses another address'),
  });
  await control.sql('alter table sessions rename to sessions_away');
  const asked = await control.raw({
    method: 'GET',
    path: '/api/public/world-sessions',
    headers: { authorization: `Bearer ${control.publicKey}` },
  });
  await control.sql('alter table sessions_away rename to sessions');
  expect(asked).toMatchObject({
    status: 503,
    body: { error: 'unavailable', message: expect.stringContaining('lacks tables') },
  });
  expect((await control.send(listWorlds, {})).status).toBe(200);
  // The loop that reports sessions may have met the missing table as well.
  const ofRequests = lines.slice(before).filter(({ sessionId }) => sessionId === undefined);
  expect(ofRequests.map(({ msg }) => msg)).toEqual([
    "a host's token is used from another address",
    'request failed',
  ]);
});

it('the log has an error for an answer that broke off after its start', async () => {
  const output = 'x'.repeat(1_000);
  const batch = Array.from({ length: 500 }, (_, i) => ({
    id: `event-${i}`,
    type: 'span-create',
    timestamp: '2026-03-01T00:00:00Z',
    body: { id: `span-${i}`, traceId: 'broken', output, startTime: new Date(i).toISOString() },
  }));
  await control.send(ingest, { body: { batch } });
  await control.sql(`update observations set pricing = '{' where id = 'span-499'`);
  const before = lines.length;
  const asked = control.raw({
    method: 'GET',
    path: '/api/public/traces/broken',
    headers: { authorization: basicAuthorization(control.publicKey, control.secretKey) },
  });
  await expect(asked).rejects.toThrow();
  await until(() => lines.length > before || undefined, { timeoutMs: 5_000, what: 'a line' });
  expect(lines.slice(before)).toMatchObject([
    {
      msg: 'an answer broke off',
      level: 50,
      url: '/api/public/traces/broken',
      requestId: expect.stringMatching(/^req/),
      err: { message: expect.stringContaining('JSON') },
    },
  ]);
});
