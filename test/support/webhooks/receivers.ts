/**
 * Receivers of webhooks on loopback, under names of their own: a stand-in for the DNS and the internet between a
 * sender and them. Tests give it to a sender in place of the real ones; the sender's rules are the same.
 */
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Network } from '#egress/connect.ts';
import { type Authority, makeAuthority } from '../programs/certificates.ts';

/** A public address; no bytes are ever sent there, as tests redirect it to loopback. */
export const publicAddress = '93.184.216.34';

/** Answers to successive lookups of a name: its addresses or an error; the last one repeats. */
type Answers = readonly (readonly string[] | Error)[];

export type Internet = {
  network: Network;
  authority: Authority;
  /** Addresses that were connected to, in order. */
  dialled: string[];
  /** Names that were looked up, in order. */
  asked: string[];
  /** Sets the answers for a name. */
  name(host: string, ...answers: Answers): void;
  /** Redirects connections to an address to a port of loopback. */
  lead(address: string, port: number): void;
  /** Serves HTTPS for names, by default at an address of its own; returns the port. */
  serve(names: readonly string[], handle: RequestListener, address?: string): Promise<number>;
  /** Serves HTTPS by writing raw bytes as soon as a request begins. */
  serveRaw(name: string, write: (socket: TLSSocket) => void, address: string): Promise<number>;
  close(): Promise<void>;
};

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

/** Creates a small internet. */
export const makeInternet = async (): Promise<Internet> => {
  const authority = await makeAuthority();
  const names = new Map<string, { answers: Answers; turn: number }>();
  const ports = new Map<string, number>();
  const servers: (Server & { closeAllConnections?: () => void })[] = [];
  const dialled: string[] = [];
  const asked: string[] = [];
  /** No program listens on this port, so connections are refused at once. */
  const closedPort = 1;

  const network: Network = {
    ca: authority.ca,
    async resolve(name) {
      asked.push(name);
      const known = names.get(name);
      if (known === undefined) return [];
      const answer = known.answers[Math.min(known.turn, known.answers.length - 1)] ?? [];
      known.turn += 1;
      if (answer instanceof Error) throw answer;
      return [...answer];
    },
    dial(address) {
      dialled.push(address);
      return connect({ host: '127.0.0.1', port: ports.get(address) ?? closedPort });
    },
  };

  return {
    network,
    authority,
    dialled,
    asked,
    name: (host, ...answers) => void names.set(host, { answers, turn: 0 }),
    lead: (address, port) => void ports.set(address, port),
    async serve(hosts, handle, address = publicAddress) {
      const server = createServer(await authority.issue(hosts), handle);
      servers.push(server);
      const port = await listen(server);
      ports.set(address, port);
      for (const host of hosts) names.set(host, { answers: [[address]], turn: 0 });
      return port;
    },
    async serveRaw(name, write, address) {
      const server = createServer(await authority.issue([name]));
      server.on('secureConnection', (socket: TLSSocket) => {
        socket.on('error', () => socket.destroy());
        socket.once('data', () => write(socket));
      });
      server.removeAllListeners('request');
      servers.push(server);
      const port = await listen(server);
      ports.set(address, port);
      names.set(name, { answers: [[address]], turn: 0 });
      return port;
    },
    async close() {
      for (const server of servers) {
        server.closeAllConnections?.();
        server.close();
      }
    },
  };
};
