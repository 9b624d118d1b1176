/**
 * Listens on every configured address with one and the same application. Draining serves on, and makes
 * each answer the last one of its connection, so that clients come back through the balancer. Stopping
 * takes no new connections, lets requests under way finish, and cuts off what is left at a deadline.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { AppError } from '#domain/error.ts';
import { pause } from '#runtime/pause.ts';
import type { ListenAddress } from '../config.ts';

export type Listening = {
  /** `http://host:port` of each address, in the order of the configuration. */
  addresses: string[];
  /** From now on connections end with their next answer. New ones are still taken. */
  drain(): void;
  stop(deadlineMs: number): Promise<void>;
};

/** Longer than clients keep an idle connection, so that it is they who close it. */
const keepAliveMs = 75_000;

const urlOf = (server: Server): string => {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
};

const listenOn = (handle: RequestListener, { host, port }: ListenAddress): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer({ keepAliveTimeout: keepAliveMs, noDelay: true }, handle);
    server.once('error', (cause) => {
      reject(new AppError('unavailable', `cannot listen on ${host}:${port}`, { cause }));
    });
    server.listen({ host, port }, () => resolve(server));
  });

const closeAll = (servers: readonly Server[]): Promise<unknown> =>
  Promise.all(
    servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
  );

/** Binds all addresses, or none when one of them cannot be had. */
export const listen = async (
  app: FastifyInstance,
  wanted: readonly ListenAddress[],
): Promise<Listening> => {
  let draining = false;
  app.addHook('onSend', async (_, reply) => {
    if (draining) reply.header('connection', 'close');
  });
  await app.ready();
  const handle: RequestListener = (request, response) => app.routing(request, response);
  const results = await Promise.allSettled(wanted.map((address) => listenOn(handle, address)));
  const servers = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    await closeAll(servers);
    throw failed.reason;
  }
  return {
    addresses: servers.map(urlOf),
    drain() {
      draining = true;
    },
    async stop(deadlineMs) {
      draining = true;
      const closed = closeAll(servers);
      await Promise.race([closed, pause(deadlineMs)]);
      for (const server of servers) server.closeAllConnections();
      await closed;
    },
  };
};
