/** Tests WebSocket through the gateway, with the most widely used client, and connections of unknown protocols. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { until } from '#runtime/pause.ts';
import { ask, openRaw, startTestGateway } from '../../support/gateway/gateway.ts';

const gateway = await startTestGateway({
  limits: { tunnelMs: 1_500, halfClosedMs: 300, perSession: 3 },
});

afterAll(() => gateway.stop());

/** Adds a session whose host speaks WebSocket and echoes messages. */
const serveEcho = async (): Promise<string> => {
  const server = createServer((_, response) => response.writeHead(426).end('upgrade'));
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'echo' });
  sockets.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  return gateway.serveBy(server);
};

const dial = (id: string): WebSocket => {
  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/live?x=1`, 'echo', {
    headers: { host: gateway.hostOf(id) },
  });
  socket.on('error', () => undefined);
  return socket;
};

const closedWith = async (socket: WebSocket): Promise<number> => (await once(socket, 'close'))[0];

describe('a WebSocket through the gateway', () => {
  it('carries messages of any size', async () => {
    const socket = dial(await serveEcho());
    await once(socket, 'open');
    expect(socket.protocol).toBe('echo');
    for (const message of ['hello', 'x'.repeat(5_000_000)]) {
      socket.send(message);
      const [data] = await once(socket, 'message');
      expect(String(data)).toBe(message);
    }
    socket.close(1000, 'done');
    expect(await closedWith(socket)).toBe(1000);
  });

  it('to a host that does not speak WebSocket gets the answer of the host', async () => {
    const id = await gateway.serve((_, response) => response.writeHead(404).end('no such thing'));
    const socket = dial(id);
    const [, answer] = await once(socket, 'unexpected-response');
    expect(answer.statusCode).toBe(404);
    expect(Buffer.concat(await answer.toArray()).toString()).toBe('no such thing');
    socket.terminate();
  });

  it('to a session that has ended is refused with the reason', async () => {
    const id = await serveEcho();
    gateway.control.change(id, { state: 'CLOSED', endReason: 'requested', surfaces: {} });
    const socket = dial(id);
    const [, answer] = await once(socket, 'unexpected-response');
    expect(answer.statusCode).toBe(410);
    expect(Buffer.concat(await answer.toArray()).toString()).toContain('"closed"');
    socket.terminate();
  });

  it('is cut when its session ends or moves', async () => {
    for (const route of [
      { state: 'CLOSING', endReason: 'requested', surfaces: {} },
      { surfaces: { api: 'http://127.0.0.1:9' } },
    ] as const) {
      const id = await serveEcho();
      const socket = dial(id);
      await once(socket, 'open');
      gateway.control.change(id, route);
      expect(await closedWith(socket)).toBe(1006);
    }
  });

  it('is cut when its session ends during the upgrade', async () => {
    const answer = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const server = createServer((_, response) => response.end('fine'));
    const sockets = new WebSocketServer({ noServer: true });
    server.on('upgrade', async (request, socket, head) => {
      asked.resolve();
      await answer.promise;
      sockets.handleUpgrade(request, socket, head, () => undefined);
    });
    const id = await gateway.serveBy(server);
    const socket = dial(id);
    await asked.promise;
    gateway.control.change(id, { state: 'CLOSING', endReason: 'requested', surfaces: {} });
    const host = gateway.hostOf(id);
    await until(async () => (await ask(gateway.port, { host })).status === 410, {
      timeoutMs: 30_000,
      what: 'the end of the route',
    });
    answer.resolve();
    expect(await closedWith(socket)).toBe(1006);
  });

  it('is not cut by a change that keeps the address of its session', async () => {
    const id = await serveEcho();
    const socket = dial(id);
    await once(socket, 'open');
    gateway.control.change(id, {});
    socket.send('still here');
    expect(String((await once(socket, 'message'))[0])).toBe('still here');
    socket.terminate();
  });

  it('ends for the host when the client disconnects', async () => {
    const server = createServer();
    const gone = Promise.withResolvers<void>();
    new WebSocketServer({ server }).on('connection', (socket) =>
      socket.on('close', () => gone.resolve()),
    );
    const socket = dial(await gateway.serveBy(server));
    await once(socket, 'open');
    socket.terminate();
    await gone.promise;
  });

  it('counts as a request of its session until it ends', async () => {
    const id = await serveEcho();
    const sockets = [dial(id), dial(id), dial(id)];
    await Promise.all(sockets.map((socket) => once(socket, 'open')));
    const host = gateway.hostOf(id);
    expect(await ask(gateway.port, { host })).toMatchObject({ status: 429 });
    for (const socket of sockets) socket.terminate();
    await until(async () => (await ask(gateway.port, { host })).status === 426, {
      timeoutMs: 30_000,
      what: 'room for a request',
    });
  });

  it('is cut when it is idle for too long', async () => {
    const socket = dial(await serveEcho());
    await once(socket, 'open');
    expect(await closedWith(socket)).toBe(1006);
  });
});

describe('a tunnel of another protocol', () => {
  const serveRaw = async (onSocket: (socket: Socket) => unknown): Promise<string> => {
    const server = createServer();
    server.on('upgrade', (request, duplex, head) => {
      const socket = duplex as Socket;
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n');
      socket.write(`Upgrade: ${request.headers.upgrade}\r\n\r\nhello ${head}`);
      onSocket(socket);
    });
    return gateway.serveBy(server);
  };
  const begin = async (id: string) => {
    const raw = await openRaw(gateway.port);
    const head = `GET / HTTP/1.1\r\nHost: ${gateway.hostOf(id)}\r\n`;
    raw.socket.write(`${head}Connection: Upgrade\r\nUpgrade: lines\r\n\r\nearly`);
    await until(() => raw.text().includes('hello'), { timeoutMs: 30_000, what: 'the greeting' });
    return raw;
  };

  it('carries bytes from the first one on, and each side may end before the other', async () => {
    let heard = '';
    const id = await serveRaw((socket) => {
      socket.on('data', (chunk) => {
        heard += chunk;
      });
      socket.on('end', () => socket.end(`heard ${heard}`));
    });
    const { socket, text } = await begin(id);
    expect(text()).toMatch(/^HTTP\/1\.1 101 /);
    expect(text().toLowerCase()).toContain('upgrade: lines');
    socket.end(' and late');
    await once(socket, 'end');
    expect(text()).toMatch(/hello .*heard early and late$/s);
    socket.destroy();
  });

  it('is cut when one side has ended and the other goes silent', async () => {
    const hosts: Socket[] = [];
    const id = await serveRaw((socket) => hosts.push(socket.resume()));
    const { socket } = await begin(id);
    socket.end();
    await until(() => socket.destroyed, { timeoutMs: 30_000, what: 'the cut' });
    for (const host of hosts) host.destroy();
  });
});
