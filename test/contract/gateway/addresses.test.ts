/**
 * Tests the gateway with a route to an address where no host can be, as if the control plane had accepted a false
 * report. The gateway does not connect, logs the address, and answers the client with the usual error.
 */
import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { ask, endServer, listenLocally, startTestGateway } from '../../support/gateway/gateway.ts';

let asked = 0;
const internal = createServer((_, response) => {
  asked += 1;
  response.end('internal');
});
const port = await listenLocally(internal);
const gateway = await startTestGateway();

afterAll(async () => {
  await gateway.stop();
  await endServer(internal);
});

/** Adds a session that is served at an address. */
const servedAt = (address: string): string => {
  const sessionId = newId('ses');
  gateway.control.change(sessionId, { state: 'READY', surfaces: { api: address } });
  return sessionId;
};

const askAt = (address: string, path = '/') =>
  ask(gateway.port, { host: gateway.hostOf(servedAt(address)), path });

const elsewhere = Object.values(networkInterfaces())
  .flatMap((found) => found ?? [])
  .find(({ internal: isInternal, family }) => !isInternal && family === 'IPv4')?.address;

describe('a route of the gateway', () => {
  it.each([
    `http://localhost:${port}`,
    `http://127.1:${port}`,
    `http://2130706433:${port}`,
    `http://0x7f000001:${port}`,
    `http://0177.0.0.1:${port}`,
    `http://[::ffff:127.0.0.1]:${port}`,
    `http://[::ffff:7f00:1]:${port}`,
    `http://[::1]:${port}`,
    `http://0.0.0.0:${port}`,
    `http://someone@127.0.0.1:${port}`,
    `http://127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}?x`,
    `http://127.0.0.1:${port}#x`,
    `https://127.0.0.1:${port}`,
    `http://${elsewhere ?? '192.0.2.1'}:${port}`,
    'http://169.254.169.254:80',
    'http://127.0.0.1:22',
    'javascript:alert(1)',
    'http://',
    '',
  ])('to %s is not followed', async (address) => {
    const answer = await askAt(address, '/latest/meta-data');
    expect(answer).toMatchObject({ status: 502, code: 'host_unreachable' });
    expect(answer.body).not.toContain('127.0.0.1');
    expect(asked).toBe(0);
  });

  it('to the gateway itself or to the control plane is not followed', async () => {
    const [own = ''] = gateway.gateway.addresses;
    for (const address of [own, gateway.control.url]) {
      expect(await askAt(address, '/health')).toMatchObject({ code: 'host_unreachable' });
    }
    expect(asked).toBe(0);
  });

  it('whose host answers with a redirect passes the redirect on and does not follow it', async () => {
    const sessionId = await gateway.serve((_, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
    });
    const answer = await ask(gateway.port, { host: gateway.hostOf(sessionId), path: '/' });
    expect(answer).toMatchObject({
      status: 302,
      headers: { location: `http://127.0.0.1:${port}/` },
    });
    expect(asked).toBe(0);
  });

  it('that changes to a forbidden address while in use is no longer followed', async () => {
    const sessionId = await gateway.serve((_, response) => void response.end('host'));
    const host = gateway.hostOf(sessionId);
    expect(await ask(gateway.port, { host, path: '/' })).toMatchObject({ status: 200 });
    gateway.control.change(sessionId, { surfaces: { api: `http://localhost:${port}` } });
    const answers = [];
    for (let i = 0; i < 20; i += 1) answers.push(await ask(gateway.port, { host, path: '/' }));
    expect(answers.at(-1)).toMatchObject({ status: 502, code: 'host_unreachable' });
    expect(asked).toBe(0);
  });
});
