/**
 * Forward proxy that is Chromium's only way to the network. It forwards requests to the session's surfaces and refuses
 * all others itself, so the egress policy holds wherever the browser runs. Encrypted connections and WebSockets arrive
 * as tunnels, plain requests as whole requests.
 */
import {
  type Agent,
  createServer,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { bindAll, keepAliveTimeouts } from '#runtime/listen.ts';
import type { Log } from '#runtime/log.ts';
import type { Origins } from './origins.ts';
import { agentOf, type Route } from './route.ts';

export type ProxyOptions = {
  origins: Pick<Origins, 'forRequest' | 'forTunnel'>;
  /** Route to the surfaces. */
  route: Route;
  /** Called for all traffic that passes, as it may have changed something in the browser. */
  onTraffic(): void;
  /** Called with each destination that was refused. */
  onRefused(what: string): void;
  log: Log;
};

export type ForwardProxy = {
  /** `host:port` for Chromium. */
  address: string;
  close(): Promise<void>;
};

/** Headers that concern the connection to the proxy, not the surface. */
const hopHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const forwarded = (headers: IncomingMessage['headers']): Record<string, string | string[]> => {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/);
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || hopHeaders.has(name) || named.includes(name) ? [] : [[name, value]],
    ),
  );
};

const refusal = (what: string): string =>
  `${what} does not belong to this session. Its browser reaches the surfaces of the session alone.\n`;

const answer = (response: ServerResponse, status: number, text: string): void => {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
  });
  response.end(text);
};

const passRequest = (
  { origins, onTraffic, onRefused, log }: ProxyOptions,
  agent: Agent,
  request: IncomingMessage,
  response: ServerResponse,
): void => {
  const text = request.url ?? '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const to = url === undefined ? undefined : origins.forRequest(url);
  if (url === undefined || to === undefined) {
    onRefused(url?.origin ?? text.slice(0, 200));
    answer(response, 403, refusal(url?.origin ?? 'This address'));
    return;
  }
  onTraffic();
  const outgoing = openRequest({
    ...to,
    agent,
    method: request.method,
    path: `${url.pathname}${url.search}`,
    // The host is always the address's own, whatever header a page or a client set.
    headers: { ...forwarded(request.headers), host: url.host },
  });
  outgoing.on('response', (incoming) => {
    response.writeHead(incoming.statusCode ?? 502, forwarded(incoming.headers));
    pipeline(incoming, response, () => onTraffic());
  });
  outgoing.on('error', (err) => {
    log.debug({ err, origin: url.origin }, 'a surface could not be reached');
    answer(response, 502, `${url.origin} does not answer.\n`);
  });
  response.on('close', () => outgoing.destroy());
  pipeline(request, outgoing, () => undefined);
};

const passTunnel = (
  { origins, route, onTraffic, onRefused }: ProxyOptions,
  request: IncomingMessage,
  client: Socket,
  head: Buffer,
): void => {
  const authority = request.url ?? '';
  // An aborted connection also ends its other side, so there is no peer to report the error to.
  client.on('error', () => undefined);
  const to = origins.forTunnel(authority);
  if (to === undefined) {
    onRefused(authority.slice(0, 200));
    client.end(`HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n${refusal(authority)}`);
    return;
  }
  const join = (host: Socket): void => {
    if (client.destroyed) return void host.destroy();
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    host.write(head);
    host.on('data', onTraffic);
    pipeline(client, host, client, () => undefined);
    client.on('close', () => host.destroy());
  };
  route.dial(to).then(join, () => client.destroy());
};

/** Starts the proxy on a free port of this machine's loopback. */
export const startProxy = async (options: ProxyOptions): Promise<ForwardProxy> => {
  const tunnels = new Set<Socket>();
  const agent = agentOf(options.route);
  const makeServer = () =>
    createServer(keepAliveTimeouts, (request, response) =>
      passRequest(options, agent, request, response),
    ).on('connect', (request, socket, head) => {
      const client = socket as Socket;
      tunnels.add(client);
      client.once('close', () => tunnels.delete(client));
      passTunnel(options, request, client, head);
    });
  const bound = await bindAll(makeServer, [{ host: '127.0.0.1', port: 0 }]);
  return {
    address: (bound.addresses[0] as string).slice('http://'.length),
    async close() {
      for (const client of tunnels) client.destroy();
      agent.destroy();
      await bound.stop(0);
    },
  };
};
