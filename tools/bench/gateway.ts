/**
 * Measures the cost of the gateway: the additional time of a request through it compared with one sent directly to the
 * host, and memory for idle connections. Gateway and host are processes of their own, the host a bare server.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer, request as openRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { newId } from '#domain/id.ts';
import {
  gatewayDomain,
  gatewayEnv,
  startStandInRoutes,
} from '../../test/support/gateway/gateway.ts';
import { type Program, startProgram } from '../../test/support/programs/program.ts';
import { type Figure, median } from './figure.ts';

const rounds = 5;
const requestsPerRound = 400;
const warmUp = 500;
const idleConnections = 5_000;
/** Connections that are opened concurrently. */
const dialled = 100;

const portOf = ({ said }: Program): number =>
  Number(new URL(String((said.listening as string[])[0])).port);

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

const askOnce = async (port: number, host: string): Promise<void> => {
  const outgoing = openRequest({ agent, host: '127.0.0.1', port, headers: { host } });
  outgoing.end();
  const [answer] = await once(outgoing, 'response');
  for await (const _ of answer);
};

/** Returns the milliseconds of each of this many requests, one after another. */
const time = async (port: number, host: string, requests: number): Promise<number[]> => {
  const samples: number[] = [];
  for (let i = 0; i < requests; i += 1) {
    const startedAt = performance.now();
    await askOnce(port, host);
    samples.push(performance.now() - startedAt);
  }
  return samples;
};

/**
 * Measures direct requests and those through the gateway alternately, so that other work on the machine affects both.
 */
const measureOverhead = async (gateway: number, direct: number, host: string) => {
  await time(direct, host, warmUp);
  await time(gateway, host, warmUp);
  const through: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(...(await time(direct, host, requestsPerRound)));
    through.push(...(await time(gateway, host, requestsPerRound)));
  }
  return { bareMs: median(bare), addedMs: median(through) - median(bare) };
};

const residentMb = ({ pid }: Program): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
};

/** Opens a connection, sends one request, and keeps it. */
const openIdle = async (port: number, host: string): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await once(socket, 'data');
  return socket;
};

/** Returns by how many MB the gateway's memory grows with the connections. */
const measureIdle = async (program: Program, host: string): Promise<number> => {
  const before = residentMb(program);
  const sockets: Socket[] = [];
  while (sockets.length < idleConnections) {
    const some = Array.from({ length: dialled }, () => openIdle(portOf(program), host));
    sockets.push(...(await Promise.all(some)));
  }
  const open = sockets.filter(({ destroyed, readableEnded }) => !destroyed && !readableEnded);
  if (open.length !== idleConnections) throw new Error(`${open.length} connections are left`);
  const after = residentMb(program);
  for (const socket of sockets) socket.destroy();
  return after - before;
};

/** The host runs this file as a process of its own, and prints its address as programs do. */
const hostMain = fileURLToPath(import.meta.url);

/** Serves as the host; runs when this file is the main program. */
const serveAsHost = async (): Promise<void> => {
  const body = JSON.stringify({ id: 1, title: 'a note', done: false });
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  process.stdout.write(`${JSON.stringify({ listening: [`http://127.0.0.1:${port}`] })}\n`);
};

/** Measures both figures, or only the one that `wants` selects. */
export const benchGateway = async (wants: (prefix: string) => boolean): Promise<Figure[]> => {
  const control = await startStandInRoutes();
  const host = await startProgram(hostMain, {});
  const gateway = await startProgram('src/gateway/main.ts', {
    ...gatewayEnv(control.url),
    SVC_PER_SESSION: '10000',
  });
  const sessionId = newId('ses');
  control.change(sessionId, { sessionId, surfaces: { api: `http://127.0.0.1:${portOf(host)}` } });
  const name = `${sessionId}--api.${gatewayDomain}`;
  const figures: Figure[] = [];
  try {
    if (wants('gateway.overhead.p50')) {
      const { addedMs, bareMs } = await measureOverhead(portOf(gateway), portOf(host), name);
      figures.push({
        name: 'gateway.overhead.p50',
        value: addedMs,
        unit: 'ms',
        floor: bareMs,
        peer: null,
        target: 1,
        better: 'lower',
      });
    }
    if (wants('gateway.idle5000')) {
      figures.push({
        name: 'gateway.idle5000',
        value: await measureIdle(gateway, name),
        unit: 'MB',
        floor: null,
        peer: null,
        target: 150,
        better: 'lower',
      });
    }
    return figures;
  } finally {
    agent.destroy();
    await gateway.end('SIGKILL');
    await host.end('SIGKILL');
    await control.stop();
  }
};

if (process.argv[1] === hostMain) await serveAsHost();
