/**
 * Uploads that are announced and never finished, over raw connections. The memory reserved for them
 * is bounded for a project with all its hosts, and in total. Every end of a connection releases it.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { basicAuthorization } from '#wire/client.ts';
import { openSession } from '#wire/public-api/operations.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';

const mib = 1024 * 1024;
const largest = 48 * mib;

let control: OwnControl;
let other: Neighbour;
const open = new Set<Socket>();

beforeAll(async () => {
  control = await startNotesControl({ quotas: { uploadMib: 100 }, uploadMib: 150 });
  other = await addNeighbour(control);
});
afterAll(() => control.stop());
afterEach(async () => {
  for (const socket of open) socket.destroy();
  open.clear();
  await untilTaken(0);
  await clearPool(control);
});

const taken = async (): Promise<number> => {
  const [address = ''] = control.running.metricsAddresses;
  const text = await (await fetch(`${address}/metrics`)).text();
  return Number(/^svc_upload_bytes\S* (\S+)$/m.exec(text)?.[1]);
};

const untilTaken = (bytes: number): Promise<unknown> =>
  until(async () => (await taken()) === bytes, {
    timeoutMs: 10_000,
    what: `${bytes} bytes taken`,
  });

type Request = {
  path?: string;
  length?: number;
  authorization?: string;
  address?: string | undefined;
  begun?: string;
};

const ofProject = (): string => basicAuthorization(control.publicKey, control.secretKey);

/** Announces a body and sends its beginning. */
const begin = ({
  path = '/api/public/worlds',
  length = largest,
  authorization = ofProject(),
  address = control.running.addresses.public[0],
  begun = '{"slug":',
}: Request): { socket: Socket; answer: Promise<string> } => {
  const { port } = new URL(address ?? '');
  const socket = connect(Number(port), '127.0.0.1');
  open.add(socket);
  // The server cuts some of these connections while the body is still being sent.
  socket.on('error', () => undefined);
  const heard = once(socket.setEncoding('utf8'), 'data');
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: svc.test',
    `Authorization: ${authorization}`,
    'Content-Type: application/json',
    length === 0 ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${begun}`);
  return { socket, answer: heard.then(([text]) => String(text)) };
};

describe('a project that never finishes its uploads', () => {
  it('is refused more memory than its share, and another project still gets its own share', async () => {
    begin({});
    begin({ length: 0, begun: '8\r\n{"slug":\r\n' });
    await untilTaken(2 * largest);
    const refused = await begin({}).answer;
    expect(refused).toMatch(/^HTTP\/1\.1 429 /);
    expect(refused).toMatch(/retry-after: 1\r\n/i);
    expect(refused).toContain('"quota":"upload_mib"');
    begin({ authorization: other.authorization });
    await untilTaken(3 * largest);
    const busy = await begin({ authorization: other.authorization }).answer;
    expect(busy).toMatch(/^HTTP\/1\.1 503 /);
    expect(busy).toMatch(/retry-after: 1\r\n/i);
    const small = await begin({ length: 2, begun: '{}' }).answer;
    expect(small).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('gets its share back when a connection is closed, refused or answered', async () => {
    const { socket } = begin({});
    await untilTaken(largest);
    socket.destroy();
    await untilTaken(0);
    expect(await begin({ length: largest + 1 }).answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(await begin({ length: mib, begun: ' '.repeat(mib) }).answer).toMatch(/ 400 /);
    await untilTaken(0);
  });

  it('shares its memory with the hosts of its sessions', async () => {
    const hosts = [await warmHost(control), await warmHost(control)];
    const [address] = control.running.addresses.host;
    for (const host of hosts) {
      const { body } = await control.send(openSession, { body: { slug: 'notes' } });
      expect((await host.poll())?.sessionId).toBe(body.id);
    }
    const upload = (host: (typeof hosts)[number] | undefined, length: number) =>
      begin({
        path: `/api/host/world-sessions/${host?.assignment?.sessionId}/requests`,
        length,
        authorization: `Bearer ${host?.token}`,
        address,
      });
    begin({});
    for (let count = 0; count < 6; count += 1) upload(hosts[count % 2], 8 * mib);
    await untilTaken(2 * largest);
    expect(await upload(hosts[0], 8 * mib).answer).toMatch(/^HTTP\/1\.1 429 /);
    expect(await upload(hosts[1], 8 * mib).answer).toMatch(/^HTTP\/1\.1 429 /);
  });

  it('is refused before its body is read when its path or its query is wrong', async () => {
    const calls = `/api/public/world-sessions/${'s'.repeat(65)}/calls`;
    expect(await begin({ path: calls, length: mib }).answer).toMatch(/^HTTP\/1\.1 404 /);
    const wrong = await begin({ path: '/api/public/worlds?color=red' }).answer;
    expect(wrong).toMatch(/^HTTP\/1\.1 400 /);
    expect(wrong).toContain('"path":["color"]');
    await untilTaken(0);
  });

  it('is refused before its body is read when no route matches', async () => {
    const path = '/api/public/nothing';
    const { answer } = begin({ path, length: mib, authorization: 'none' });
    expect(await answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(await taken()).toBe(0);
  });
});
