/** Tests the gateway as a process: memory for bodies, and shutdown while it is in use. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as openRequest } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { newId } from '#domain/id.ts';
import { until } from '#runtime/pause.ts';
import {
  ask,
  endServer,
  gatewayDomain,
  gatewayEnv,
  listenLocally,
  readAnswer,
  type StandInRoutes,
  startStandInRoutes,
} from '../../support/gateway/gateway.ts';
import { type Program, startProgram } from '../../support/programs/program.ts';

const megabyte = 2 ** 20;
let control: StandInRoutes;
let program: Program;
let port: number;
const id = newId('ses');
const host = `${id}--api.${gatewayDomain}`;
const held = Promise.withResolvers<void>();
const release = Promise.withResolvers<void>();

const server = createServer(async (request, response) => {
  if (request.url === '/held') {
    held.resolve();
    await release.promise;
    response.end('finished');
    return;
  }
  request.pipe(response);
});
new WebSocketServer({ server });

beforeAll(async () => {
  control = await startStandInRoutes();
  const api = `http://127.0.0.1:${await listenLocally(server)}`;
  control.change(id, { sessionId: id, surfaces: { api } });
  program = await startProgram('src/gateway/main.ts', {
    ...gatewayEnv(control.url),
    SVC_DRAIN_MS: '300',
    SVC_FINISH_MS: '3000',
  });
  port = Number(new URL((program.said.listening as string[])[0] ?? '').port);
});

afterAll(async () => {
  await program.end('SIGKILL');
  await control.stop();
  await endServer(server);
});

const peakMb = (): number => {
  const status = readFileSync(`/proc/${program.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024;
};

/** Streams this number of bytes to the host and back; returns the number of bytes read. */
const echo = async (bytes: number): Promise<number> => {
  const outgoing = openRequest({
    port,
    host: '127.0.0.1',
    method: 'POST',
    headers: { host, 'content-length': String(bytes) },
    agent: false,
  });
  const piece = Buffer.alloc(65_536, 7);
  const write = async (): Promise<void> => {
    for (let sent = 0; sent < bytes; sent += piece.length) {
      if (!outgoing.write(piece)) await once(outgoing, 'drain');
    }
    outgoing.end();
  };
  const writing = write();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  let read = 0;
  for await (const chunk of answer) read += chunk.length;
  await writing;
  return read;
};

it('the gateway needs no more memory for bodies of 100 MB than for small ones', async () => {
  for (let i = 0; i < 3; i += 1) await echo(30 * megabyte);
  const before = peakMb();
  expect(await echo(100 * megabyte)).toBe(100 * megabyte);
  expect(await Promise.all([echo(50 * megabyte), echo(50 * megabyte)])).toHaveLength(2);
  expect(peakMb() - before).toBeLessThan(64);
});

it('the gateway logs the address of a route that it does not follow and hides it from the client', async () => {
  const sessionId = newId('ses');
  const api = 'http://169.254.169.254:8080';
  control.change(sessionId, { sessionId, surfaces: { api } });
  const answer = await ask(port, { host: `${sessionId}--api.${gatewayDomain}`, path: '/' });
  expect(answer).toMatchObject({ status: 502, code: 'host_unreachable' });
  expect(answer.body).not.toContain('169.254');
  const line = await until(
    () =>
      program
        .log()
        .split('\n')
        .find((one) => one.includes(sessionId)),
    {
      timeoutMs: 30_000,
      what: 'a line in the log',
    },
  );
  expect(JSON.parse(line)).toMatchObject({
    address: api,
    fault: 'no host can have an address in this range',
  });
});

it('a stopping gateway finishes open requests and cuts connections that do not end', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host } });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  const closed = once(socket, 'close');
  const answer = ask(port, { host, path: '/held' });
  await held.promise;
  const ended = program.end('SIGTERM');
  const own = { host: '127.0.0.1', path: '/ready' };
  await until(async () => (await ask(port, own)).status === 503, {
    timeoutMs: 30_000,
    what: 'not ready',
  });
  const outgoing = openRequest({ port, host: '127.0.0.1', method: 'POST', headers: { host } });
  outgoing.end('still served');
  const [last] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(await readAnswer(last)).toMatchObject({
    body: 'still served',
    headers: { connection: 'close' },
  });
  release.resolve();
  expect((await answer).body).toBe('finished');
  expect((await closed)[0]).toBe(1006);
  expect(await ended).toBe(0);
});
