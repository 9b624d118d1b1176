import { afterEach, expect, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import { createContact } from '#hosting/contact.ts';
import { createLog } from '#runtime/log.ts';
import { startApiServer } from '../api/server.ts';
import { createServing } from '../session/serving.ts';
import type { Session } from '../session/session.ts';

let monotonicMs = 0;
let wallMs = 1_000_000;
const contactNow = () => createContact([() => monotonicMs, () => wallMs]);
const pass = (ms: number): void => {
  monotonicMs += ms;
  wallMs += ms;
};

const servers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

it('contact is lost if no message has been answered for the time that a host may be silent', () => {
  const contact = contactNow();
  pass(limits.hostSilenceMs - 1);
  expect(contact.isLost()).toBe(false);
  pass(1);
  expect(contact.isLost()).toBe(true);
});

it('the time of contact is the time at which an answered message was sent, and an answer restores lost contact', () => {
  const contact = contactNow();
  pass(8_000);
  const answered = contact.begin();
  pass(7_000);
  expect(contact.isLost()).toBe(true);
  answered();
  expect(contact.isLost()).toBe(false);
  pass(3_000);
  expect(contact.isLost()).toBe(true);
});

it('contact is lost after a machine was suspended, but not when its clock is set back', () => {
  const suspended = contactNow();
  wallMs += 3_600_000;
  expect(suspended.isLost()).toBe(true);
  const setBack = contactNow();
  wallMs -= 3_600_000;
  expect(setBack.isLost()).toBe(false);
  pass(limits.hostSilenceMs);
  expect(setBack.isLost()).toBe(true);
});

it('API requests are refused while contact is lost, because the session may have been reassigned', async () => {
  const contact = contactNow();
  const serving = createServing(contact.isLost);
  const log = createLog('test', 'silent');
  const server = await startApiServer({ listen: { host: '127.0.0.1', port: 0 }, serving, log });
  servers.push(server);
  const untouched = new Proxy({}, { get: () => expect.unreachable('the session was asked') });
  serving.begin(untouched as Session);
  pass(limits.hostSilenceMs);
  const answer = await fetch(server.address, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('2');
  expect(await answer.json()).toEqual({
    message: expect.stringContaining('has not reached the control plane for 10 s'),
  });
  contact.begin()();
  expect(serving.state().kind).toBe('serving');
});
