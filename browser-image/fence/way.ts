/**
 * How the fence comes to a surface of its session: by itself, or, where the network leads to the control plane alone,
 * through a tunnel there, which goes to the surfaces of the browser's own session and nowhere else.
 */
import { Agent, type AgentOptions, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError } from '#domain/error.ts';
import type { Destination } from './origins.ts';

export type Way = {
  /** Resolves with a connection to a surface. Throws `unavailable` when there is none. */
  dial(to: Destination): Promise<Socket>;
};

/** A tunnel of the control plane. */
export type TunnelOptions = {
  /** The address of the control plane's host API. */
  controlUrl: string;
  /** The browser's own token, as it is by now. */
  token(): string;
};

/** How long a connection to a surface may take. */
const connectMs = 10_000;

/** Each surface is spoken to where it is. */
export const directWay: Way = {
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

/** Each surface is spoken to through the control plane, by a CONNECT request for its origin's host and port. */
export const tunnelWay = ({ controlUrl, token }: TunnelOptions): Way => {
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

/** Keeps connections for plain requests; what was dialled for one origin serves no other. */
class WayAgent extends Agent {
  readonly #way: Way;

  constructor(way: Way, options: AgentOptions) {
    super(options);
    this.#way = way;
  }

  override getName(options: Partial<Destination> = {}): string {
    return `${options.authority} ${options.host}:${options.port}`;
  }

  override createConnection(
    options: unknown,
    done?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.#way.dial(options as Destination).then(
      (socket) => done?.(null, socket),
      // Node takes no stream with an error, whatever the type says.
      (error: Error) => done?.(error, undefined as never),
    );
  }
}

/** An agent for plain HTTP requests that go a way; their options have the destination's members. */
export const agentOf = (way: Way): Agent => new WayAgent(way, { keepAlive: true, maxSockets: 64 });
