/**
 * TCP balancer that behaves like a Kubernetes Service: it polls each backend's `/ready`, and gives new connections in
 * turn to those that answered 200. It neither reads nor repeats the bytes of a connection. A connection that its
 * backend refuses is dropped, and an open one is kept when its backend is no longer ready.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { AppError } from '#domain/error.ts';
import { createLog } from '#runtime/log.ts';
import { startLoop } from '#runtime/loop.ts';
import { until } from '#runtime/pause.ts';

export type Balancer = {
  /** `http://127.0.0.1:port`. */
  url: string;
  /** Starts to poll a backend, and resolves when it is ready. */
  add(address: string): Promise<void>;
  /** Removes a backend that has ended. */
  remove(address: string): void;
  /** Returns the number of connections without a backend, or whose backend refused them. */
  refused(): number;
  stop(): Promise<void>;
};

/** Longest time for which new connections still go to a backend that reports itself not ready, in milliseconds. */
export const noticeMs = 100;
const patienceMs = 1_000;

const isReady = async (address: string): Promise<boolean> => {
  try {
    const signal = AbortSignal.timeout(patienceMs);
    return (await fetch(`${address}/ready`, { signal })).ok;
  } catch {
    return false; // it is not up yet, or has ended
  }
};

/** Starts a balancer without backends. */
export const startBalancer = async (): Promise<Balancer> => {
  const backends = new Map<string, { ready: boolean }>();
  const sockets = new Set<Socket>();
  let turn = 0;
  let refused = 0;

  const look = async (): Promise<void> => {
    const asked = [...backends].map(async ([address, backend]) => {
      backend.ready = await isReady(address);
    });
    await Promise.all(asked);
  };
  const looking = startLoop({
    name: 'balancer',
    everyMs: noticeMs,
    tick: look,
    log: createLog('balancer', 'silent'),
  });

  const choose = (): string | undefined => {
    const ready = [...backends].filter(([, backend]) => backend.ready);
    turn += 1;
    return ready[turn % ready.length]?.[0];
  };
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true).once('close', () => sockets.delete(socket));
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    keep(client);
    client.on('error', () => undefined); // the event "close" follows
    const address = choose();
    if (address === undefined) {
      refused += 1;
      client.destroy();
      return;
    }
    const { hostname, port } = new URL(address);
    const backend = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    keep(backend);
    let isTaken = false;
    backend.once('connect', () => {
      isTaken = true;
    });
    backend.on('error', () => {
      if (!isTaken) refused += 1;
    });
    client.once('close', () => backend.destroySoon());
    backend.once('close', () => client.destroySoon());
    client.pipe(backend);
    backend.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async add(address) {
      const backend = { ready: false };
      if (backends.has(address)) throw new AppError('conflict', `${address} is known already`);
      backends.set(address, backend);
      await until(() => backend.ready, { timeoutMs: 10_000, what: `${address} ready` });
    },
    remove: (address) => void backends.delete(address),
    refused: () => refused,
    async stop() {
      await looking.stop();
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
};
