/**
 * Listens on every configured address; an address that several APIs name is bound once. While it drains, the server
 * continues to serve but closes each connection after its next answer, so that clients reconnect through the load
 * balancer. When it stops, it accepts no new connections, lets requests under way finish, and cuts off the remaining
 * ones at a deadline.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { type Bound, bindAll, keepAliveTimeouts, type ListenAddress } from '#runtime/listen.ts';
import { type ListenerName, listenerNames } from '../../config.ts';
import { answerBroken } from './broken-requests.ts';

export type Listening = Bound & {
  /** Closes each connection after its next answer from now on. New connections are still accepted. */
  drain(): void;
};

/** Time limit for receiving a request, and the interval at which it is checked, in milliseconds. */
export type RequestTimes = { requestMs: number; everyMs: number };

export const usualTimes: RequestTimes = { requestMs: 120_000, everyMs: 30_000 };

/** Handler of CONNECT requests. */
export type OnConnect = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Binds all addresses, or none if one of them is not available. */
export const listen = async (
  app: FastifyInstance,
  wanted: readonly ListenAddress[],
  { requestMs, everyMs, onConnect }: RequestTimes & { onConnect?: OnConnect } = usualTimes,
): Promise<Listening> => {
  let draining = false;
  app.addHook('onSend', (_, reply, __, done) => {
    if (draining) reply.header('connection', 'close');
    done();
  });
  await app.ready();
  const handle: RequestListener = (request, response) => app.routing(request, response);
  const makeServer = (): Server => {
    const server = createServer(
      {
        ...keepAliveTimeouts,
        // A request that is not complete by then is answered 408.
        requestTimeout: requestMs,
        connectionsCheckingInterval: everyMs,
        noDelay: true,
      },
      handle,
    );
    server.on('clientError', answerBroken);
    if (onConnect !== undefined) server.on('connect', onConnect);
    return server;
  };
  const bound = await bindAll(makeServer, wanted);
  return {
    addresses: bound.addresses,
    drain() {
      draining = true;
    },
    stop(deadlineMs) {
      draining = true;
      return bound.stop(deadlineMs);
    },
  };
};

/** Addresses that all serve the same APIs, and the names of these APIs' listeners. */
export type ListenerGroup = { serves: readonly ListenerName[]; addresses: ListenAddress[] };

/**
 * Groups the addresses by the APIs that they serve, each address once. Each occurrence of port 0 counts as an address
 * of its own.
 */
export const groupListeners = (
  wanted: Readonly<Record<ListenerName, readonly ListenAddress[]>>,
): ListenerGroup[] => {
  const served = new Map<string, { address: ListenAddress; serves: ListenerName[] }>();
  for (const name of listenerNames) {
    for (const [place, address] of wanted[name].entries()) {
      const { host, port } = address;
      const key = port === 0 ? `${name} ${place}` : `${host} ${port}`;
      const known = served.get(key) ?? { address, serves: [] };
      if (!known.serves.includes(name)) known.serves.push(name);
      served.set(key, known);
    }
  }
  const groups = Map.groupBy(served.values(), ({ serves }) => serves.join(' '));
  return [...groups.values()].map((members) => ({
    serves: members[0]?.serves ?? [],
    addresses: members.map(({ address }) => address),
  }));
};
