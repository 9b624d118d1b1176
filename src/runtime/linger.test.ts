import { once } from 'node:events';
import { createServer, request as openRequest, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, expect, it } from 'vitest';
import { lingerOn } from './linger.ts';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Starts a server that answers before it has read the body of a request, and closes the connection. */
const start = async (bounds?: { bytes: number; ms: number }): Promise<number> => {
  server = createServer((_, response) => {
    response.writeHead(413, { connection: 'close', 'content-length': 3 }).end('no\n');
  });
  lingerOn(server, bounds).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

/** Connects as a client that continues to write after the server has closed its side of the connection. */
const connectTo = (port: number) =>
  connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });

const large = Buffer.alloc(16 * 2 ** 20, 'x');

it('a client that sends its whole request before it reads gets the answer', async () => {
  const socket = connectTo(await start());
  const failed: string[] = [];
  socket.on('error', (error) => failed.push(String(error)));
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${large.length}\r\n\r\n`);
  // Python's client does the same: it reads the answer only after it has written everything.
  await new Promise((written) => socket.write(large, written));
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'end');
  socket.destroy();
  const answer = Buffer.concat(chunks).toString();
  expect([failed, answer.split('\r\n', 1)[0], answer.slice(-3)]).toEqual([
    [],
    'HTTP/1.1 413 Payload Too Large',
    'no\n',
  ]);
});

it("Node's own HTTP client gets the answer", async () => {
  const sent = openRequest({ port: await start(), method: 'POST' });
  sent.setHeader('content-length', large.length);
  sent.end(large);
  const failed: string[] = [];
  sent.on('error', (error) => failed.push(String(error)));
  const [answer] = await once(sent, 'response');
  answer.resume();
  await once(sent, 'close');
  expect([answer.statusCode, failed]).toEqual([413, []]);
});

it('a connection ends if more bytes arrive than the limit', async () => {
  const socket = connectTo(await start({ bytes: 2 ** 20, ms: 60_000 }));
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
  const chunk = Buffer.concat([
    Buffer.from('10000\r\n'),
    Buffer.alloc(2 ** 16, 'x'),
    Buffer.from('\r\n'),
  ]);
  socket.resume();
  // 64 MiB, of which the server reads one.
  const sent = pipeline(Readable.from(Array.from({ length: 1_024 }, () => chunk)), socket);
  await expect(sent).rejects.toMatchObject({ code: expect.stringMatching(/^E(PIPE|CONNRESET)$/) });
});

it('a connection ends if no more bytes arrive', async () => {
  const socket = connectTo(await start({ bytes: 2 ** 20, ms: 50 }));
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nx');
  socket.resume();
  const [connection] = await once(server, 'connection');
  await once(connection, 'close');
  socket.destroy();
});
