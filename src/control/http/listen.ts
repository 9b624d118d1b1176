/**
 * Listens on every configured address with one and the same application. Stopping takes no new
 * connections and requests, lets those under way finish, and cuts off what is left at a deadline.
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
  await app.ready();
  let stopping = false;
  const handle: RequestListener = (request, response) => {
    // While stopping, an answer is the last one on its connection.
    if (stopping) response.setHeader('connection', 'close');
    response.once('finish', () => {
      if (stopping) request.socket.end();
    });
    app.routing(request, response);
  };
  const results = await Promise.allSettled(wanted.map((address) => listenOn(handle, address)));
  const servers = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    await closeAll(servers);
    throw failed.reason;
  }
  return {
    addresses: servers.map(urlOf),
    async stop(deadlineMs) {
      stopping = true;
      const closed = closeAll(servers);
      await Promise.race([closed, pause(deadlineMs)]);
      for (const server of servers) server.closeAllConnections();
      await closed;
    },
  };
};
