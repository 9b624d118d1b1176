/**
 * Tests requests whose declared length is too large. Every server answers 413 at once and closes the connection. Until
 * then it reads on, so that a client that sends everything before it reads gets the answer and not a broken connection.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { sendWhole } from '../../support/control/whole-body-sender.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { issues } from '../../support/host/host-bench.ts';
import { startUiHost } from '../../support/worlds/ui-world.ts';

const bytes = 24 * 2 ** 20;

let control: OwnControl;
let gateway: TestGateway;
let places: Record<string, { address: string; path: string; headers: Record<string, string> }>;

beforeAll(async () => {
  [control, gateway] = await Promise.all([
    startNotesControl(),
    startTestGateway({ limits: { bodyBytes: 1_000 } }),
  ]);
  const json = { 'content-type': 'application/json' };
  const keyPair = basicAuthorization(control.publicKey, control.secretKey);
  const host = await warmHost(control);
  const id = await gateway.serve((_, response) => response.end());
  const { addresses } = control.running;
  places = {
    'the public API': {
      address: addresses.public[0] ?? '',
      path: '/api/public/scores',
      headers: { ...json, authorization: keyPair },
    },
    'the API of hosts': {
      address: addresses.host[0] ?? '',
      path: `/api/host/hosts/${host.id}/warm`,
      headers: { ...json, authorization: `Bearer ${host.token}` },
    },
    'the API of orchestrators': {
      address: addresses.internal[0] ?? '',
      path: '/api/pool/hosts',
      headers: { ...json, authorization: `Bearer ${control.config.poolToken.reveal()}` },
    },
    'the gateway': {
      address: `http://127.0.0.1:${gateway.port}`,
      path: '/',
      headers: { host: gateway.hostOf(id) },
    },
  };
});
afterAll(async () => {
  await Promise.all([control?.stop(), gateway?.stop()]);
});

const expectRefusal = ({ answer, failed }: Awaited<ReturnType<typeof sendWhole>>): void => {
  expect([failed, answer.split('\r\n', 1)[0]]).toEqual([[], 'HTTP/1.1 413 Payload Too Large']);
  expect(answer).toMatch(/\r\nconnection: close\r\n/i);
};

it.each(['the public API', 'the API of hosts', 'the API of orchestrators', 'the gateway'])(
  '%s answers 413 to a client that sends its whole body before it reads the answer',
  async (name) => {
    const { address, ...asked } = places[name] ?? { address: '', path: '', headers: {} };
    expectRefusal(await sendWhole(address, { ...asked, bytes }));
  },
);

it('a world host answers 413, at its API and at its page, to a client that sends its whole body before it reads the answer', async () => {
  const { host, cookie } = await startUiHost();
  const address = `http://127.0.0.1:${new URL(`http://${host}`).port}`;
  const json = { 'content-type': 'application/json' };
  const byToken = { ...json, authorization: 'Bearer st-one' };
  expectRefusal(await sendWhole(address, { path: issues, headers: byToken, bytes }));
  const byPage = { ...json, host, cookie };
  expectRefusal(
    await sendWhole(address, { path: `/__world-api${issues}`, headers: byPage, bytes }),
  );
});
