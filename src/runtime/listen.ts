/**
 * Manages the addresses on which a server program listens: reads them from the configuration and binds all of them or
 * none. When the program stops, requests in progress may finish until a deadline, and clients that are still sending
 * can read their answer.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError } from '#domain/error.ts';
import type { EnvReader } from './env.ts';
import { lingerOn } from './linger.ts';
import { pause } from './pause.ts';

/**
 * Lifetime of an idle connection of each HTTP server, in milliseconds. The server announces the first figure and waits
 * for the sum of both. So a client that reuses a connection at the last moment, on a busy machine, finds it open. With
 * Node's defaults of 5 s and 1 s such clients got a reset ("other side closed").
 */
export const keepAliveTimeouts = {
  keepAliveTimeout: 75_000,
  keepAliveTimeoutBuffer: 15_000,
} as const;

export type ListenAddress = { host: string; port: number };

/** Parses `host:port`, with an IPv6 address in brackets; returns undefined for any other text. */
export const parseAddress = (text: string): ListenAddress | undefined => {
  const [, bracketed, plain, port] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) return undefined;
  return { host, port: Number(port) };
};

/** Reads the addresses in a variable, each `host:port`, separated by commas; port 0 means any free port. */
export const readListen = (
  env: EnvReader,
  fallback: string,
  name = 'SVC_LISTEN',
): ListenAddress[] => {
  const parts = env.text(name, fallback).split(',');
  const given = parts.map((part) => part.trim()).filter((part) => part !== '');
  if (given.length === 0) env.refuse(`${name} has no address`);
  return given.flatMap((part) => {
    const address = parseAddress(part);
    if (address === undefined) env.refuse(`${name} has "${part}", which is not a host:port`);
    return address ?? [];
  });
};

export type Bound = {
  /** URL `http://host:port` of each address, in the order of the configuration. */
  addresses: string[];
  /**
   * Accepts no more connections, and resolves when all connections have ended. After `deadlineMs` milliseconds, it cuts
   * off the connections that are left.
   */
  stop(deadlineMs: number): Promise<void>;
};

const urlOf = (server: Server): string => {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
};

const listenOn = (server: Server, { host, port }: ListenAddress): Promise<Server> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new AppError('unavailable', `cannot listen on ${host}:${port}`, { cause }));
    });
    server.listen({ host, port }, () => resolve(server));
  });

const closeAll = (servers: readonly Server[]): Promise<unknown> =>
  Promise.all(
    servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
  );

/** Binds one server to each address. If one address fails, no server stays bound. */
export const bindAll = async (
  makeServer: () => Server,
  wanted: readonly ListenAddress[],
): Promise<Bound> => {
  const results = await Promise.allSettled(
    wanted.map((address) => listenOn(lingerOn(makeServer()), address)),
  );
  const servers = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    await closeAll(servers);
    throw failed.reason;
  }
  return {
    addresses: servers.map(urlOf),
    async stop(deadlineMs) {
      const closed = closeAll(servers);
      await Promise.race([closed, pause(deadlineMs)]);
      for (const server of servers) server.closeAllConnections();
      await closed;
    },
  };
};
