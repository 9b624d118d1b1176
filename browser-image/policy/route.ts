/**
 * Routes from the egress proxy to the surfaces of its session. One dials them directly. The other, for networks that
 * reach only the control plane, uses a tunnel there. That tunnel leads to the surfaces of the browser's own session
 * and nowhere else.
 */
import { Agent, type AgentOptions, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError } from '#domain/error.ts';
import type { Destination } from './origins.ts';

export type Route = {
  /** Resolves with a connection to a surface. Throws `unavailable` if none can be made. */
  dial(to: Destination): Promise<Socket>;
};

/** Options of a tunnel through the control plane. */
export type TunnelOptions = {
  /** Address of the control plane's host API. */
  controlUrl: string;
  /** Returns the browser's current token. */
  token(): string;
};

/** Time that connecting to a surface may take, in milliseconds. */
const connectMs = 10_000;

/** Route that dials each surface at its own address. */
export const directRoute: Route = {
  dial: ({ host, port }) =>
    new Promise((resolve, reject) => {
      const socket = connect({ host, port, timeout: connectMs });
      socket.once('timeout', () => socket.destroy(new Error('no answer in time')));
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.setTimeout(0);
        socket.off('error', reject);
        resolve(socket);
      });
    }),
};

/**
 * Makes the route through the control plane, which opens each connection by a CONNECT request for the origin's host
 * and port.
 */
export const tunnelRoute = ({ controlUrl, token }: TunnelOptions): Route => {
  const { protocol, hostname, port } = new URL(controlUrl);
  const open = protocol === 'https:' ? requestSecure : requestPlain;
  return {
    dial: ({ authority }) =>
      new Promise((resolve, reject) => {
        const asked = open({
          host: hostname.replace(/^\[|\]$/g, ''),
          port: port || undefined,
          method: 'CONNECT',
          path: authority,
          headers: { host: authority, 'proxy-authorization': `Bearer ${token()}` },
          agent: false,
          timeout: connectMs,
        });
        asked.once('connect', ({ statusCode }, socket, head) => {
          if (statusCode !== 200) {
            socket.destroy();
            reject(
              new AppError('unavailable', `the control plane answers ${statusCode}: ${authority}`),
            );
            return;
          }
          if (head.length > 0) socket.unshift(head);
          resolve(socket as Socket);
        });
        asked.once('response', (answer) => {
          answer.resume();
          reject(new AppError('unavailable', `the control plane makes no tunnel to ${authority}`));
        });
        asked.once('timeout', () => asked.destroy(new Error('no answer in time')));
        asked.once('error', reject);
        asked.end();
      }),
  };
};

/** Keeps connections for plain requests alive; a connection dialled for one origin never serves another. */
class RouteAgent extends Agent {
  readonly #route: Route;

  constructor(route: Route, options: AgentOptions) {
    super(options);
    this.#route = route;
  }

  override getName(options: Partial<Destination> = {}): string {
    return `${options.authority} ${options.host}:${options.port}`;
  }

  override createConnection(
    options: unknown,
    done?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.#route.dial(options as Destination).then(
      (socket) => done?.(null, socket),
      // Node ignores the stream if there is an error, whatever the type demands.
      (error: Error) => done?.(error, undefined as never),
    );
  }
}

/** Makes an agent for plain HTTP requests that use a route; the request options carry the destination's members. */
export const agentOf = (route: Route): Agent =>
  new RouteAgent(route, { keepAlive: true, maxSockets: 64 });
