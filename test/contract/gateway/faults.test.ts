/**
 * Tests a declared fault that drops a connection, through a gateway: the client's connection breaks too, and the
 * gateway does not answer in its place. The host is a real world host's server.
 */
import { createServer } from 'node:http';
import { afterAll, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { droppedHeader } from '#wire/dropped.ts';
import { ask, headLines, sendRaw, startTestGateway } from '../../support/gateway/gateway.ts';
import { notesUpTo, operation, serveApi } from '../../support/worlds/api-world.ts';

const world = await serveApi({
  api: `[[api.faults.rules]]
name = "lost"
routes = ["/lost"]
drop = "before"

[[api.faults.rules]]
name = "unheard"
routes = ["create_note"]
nth = 1
drop = "after"
`,
  operations: [
    operation('GET', '/notes'),
    operation('POST', '/notes', 'action = "create"', { name: 'create_note' }),
    operation('GET', '/lost'),
  ].join(''),
  notes: notesUpTo(1),
});
const gateway = await startTestGateway();
const sessionId = newId('ses');
gateway.control.change(sessionId, { state: 'READY', surfaces: { api: world.url } });
const host = gateway.hostOf(sessionId);
const headers = { authorization: `Bearer ${world.token}`, 'content-type': 'application/json' };

afterAll(async () => {
  await gateway.stop();
  await world.stop();
});

const lines = (path: string): string =>
  headLines(`GET ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${world.token}`);

it('a dropped connection breaks for the client, too, without a byte of an answer', async () => {
  expect(await sendRaw(gateway.port, lines('/lost'))).toBe('');
  await expect(ask(gateway.port, { host, path: '/lost', headers })).rejects.toMatchObject({
    code: 'ECONNRESET',
  });
  expect(await ask(gateway.port, { host, path: '/notes', headers })).toMatchObject({ status: 200 });
});

it('a connection can be dropped after a request with a body was carried out', async () => {
  const body = JSON.stringify({ id: 2, title: 'x' });
  const asked = { host, path: '/notes', method: 'POST', headers, body };
  await expect(ask(gateway.port, asked)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(world.rows('notes', { id: 2 })).toHaveLength(1);
});

it('a client that connects to a host directly receives no byte before a declared connection drop', async () => {
  const port = Number(new URL(world.url).port);
  expect(await sendRaw(port, lines('/lost'))).toBe('');
});

it('code of a world cannot drop a connection by setting a header', async () => {
  const id = await gateway.serveBy(
    createServer((_, response) => response.setHeader(droppedHeader, 'declared').end('fine')),
  );
  const answer = await ask(gateway.port, { host: gateway.hostOf(id) });
  expect(answer).toMatchObject({ status: 200, body: 'fine' });
});
