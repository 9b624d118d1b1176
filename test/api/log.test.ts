/** What a control plane logs of sessions: each line with the ids by which an operator looks for it. */
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeSession, openSession } from '#wire/public-api/operations.ts';
import { warmHost } from '../support/host.ts';
import { type OwnControl, startNotesControl } from '../support/own-control.ts';

let control: OwnControl;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  control = await startNotesControl({ log });
});

afterAll(() => control.stop());

const open = async () => (await control.send(openSession, { body: { slug: 'notes' } })).body.id;

const toldOf = (sessionId: string) => lines.filter((line) => line.sessionId === sessionId);

it('tells the life of a session, with its host', async () => {
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
    { msg: 'session placed', hostId: late.id },
  ]);
});
