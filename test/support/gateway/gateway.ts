/**
 * A gateway in the test's own process, between clients and hosts that the test simulates. The control plane behind it
 * is a table of routes, which a test changes and can make unavailable.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as openRequest,
  type RequestListener,
  type Server,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { newId } from '#domain/id.ts';
import { parseSurfaceTemplate } from '#domain/surface-address.ts';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import type { Route, RouteChanges } from '#wire/gateway-api/operations.ts';
import { type GatewayConfig, readConfig } from '../../../src/gateway/config.ts';
import type { Limits } from '../../../src/gateway/http/limits.ts';
import { type RunningGateway, startGateway } from '../../../src/gateway/program.ts';

export const gatewayDomain = 'worlds.test';
const token = 'gateway-token';

/** A control plane as gateways see it. */
export type StandInRoutes = {
  url: string;
  routes: Map<string, Route>;
  /** Tokens of unused links. */
  links: Set<string>;
  /** Returns how often a route was requested. */
  asked(): number;
  /** Changes a session's route and publishes the change. */
  change(sessionId: string, route: Partial<Route>): void;
  /** Breaks the feed: its followers learn that they missed changes. */
  breakOff(): void;
  /** Answers only 503 until `comeBack`. */
  goAway(): void;
  comeBack(): void;
  /** Accepts no token until `comeBack`. */
  refuse(): void;
  stop(): Promise<void>;
};

/** Listens on a free port of the loopback. */
export const listenLocally = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

/** Closes a server with all its connections. */
export const endServer = async (server: Server): Promise<void> => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
};

const holdMs = 20_000;

/** Starts a control plane without routes. */
export const startStandInRoutes = async (): Promise<StandInRoutes> => {
  const routes = new Map<string, Route>();
  const links = new Set<string>();
  let changes: string[] = [];
  let era = 1;
  let asked = 0;
  let isAway = false;
  let isRefusing = false;
  const waiting: (() => void)[] = [];
  const wake = (): void => {
    for (const look of waiting.splice(0)) look();
  };
  const since = (after: string | null): RouteChanges | undefined => {
    const cursor = `${era}.${changes.length}`;
    const [ofEra, place] = (after ?? '').split('.');
    if (ofEra !== String(era)) return { cursor, missed: true, sessionIds: [] };
    if (cursor === after) return undefined;
    return { cursor, missed: false, sessionIds: changes.slice(Number(place)) };
  };

  const follow = (after: string | null, hold: number, send: (body: object) => void): void => {
    const look = (): void => {
      const found = since(after);
      if (found === undefined && hold > 0) waiting.push(look);
      else send(found ?? { cursor: after, missed: false, sessionIds: [] });
    };
    look();
  };

  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const chunks = await request.toArray();
    if (isAway) return answer(503, { message: 'away', error: 'unavailable' });
    if (isRefusing || request.headers.authorization !== `Bearer ${token}`)
      return answer(401, { message: 'no' });
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://control');
    const [, sessionId = '', entries] =
      /^\/api\/gateway\/routes\/([^/]+)(\/entries)?$/.exec(pathname) ?? [];
    if (pathname === '/api/gateway/changes') {
      return follow(searchParams.get('after'), Number(searchParams.get('hold')), (body) =>
        answer(200, body),
      );
    }
    if (entries !== undefined) {
      const { token: link } = JSON.parse(Buffer.concat(chunks).toString());
      return answer(200, { accepted: links.delete(link) });
    }
    asked += 1;
    const route = routes.get(sessionId);
    if (route === undefined) return answer(404, { message: 'none', error: 'not_found' });
    return answer(200, route);
  });
  server.requestTimeout = holdMs;
  const port = await listenLocally(server);
  return {
    url: `http://127.0.0.1:${port}`,
    routes,
    links,
    asked: () => asked,
    change(sessionId, route) {
      const before = routes.get(sessionId) ?? {
        sessionId,
        state: 'READY',
        endReason: null,
        surfaces: {},
      };
      routes.set(sessionId, { ...before, ...route });
      changes.push(sessionId);
      wake();
    },
    breakOff() {
      era += 1;
      changes = [];
      wake();
    },
    goAway() {
      isAway = true;
      server.closeAllConnections();
    },
    comeBack() {
      isAway = false;
      isRefusing = false;
    },
    refuse() {
      isRefusing = true;
      server.closeAllConnections();
    },
    stop: () => endServer(server),
  };
};

export type TestGateway = {
  control: StandInRoutes;
  gateway: RunningGateway;
  port: number;
  /** Serves a session by a listener; returns the session's id. */
  serve(listener: RequestListener, surface?: 'api' | 'ui'): Promise<string>;
  /** Serves a session by the caller's server. */
  serveBy(server: Server, surface?: 'api' | 'ui'): Promise<string>;
  hostOf(sessionId: string, surface?: 'api' | 'ui' | 'browser'): string;
  stop(): Promise<void>;
};

export type TestGatewayOptions = Partial<Omit<GatewayConfig, 'limits'>> & {
  limits?: Partial<Limits>;
};

/** Builds the environment that configures a gateway of tests. */
export const gatewayEnv = (controlUrl: string): Record<string, string> => ({
  SVC_LISTEN: '127.0.0.1:0',
  SVC_CONTROL_URL: controlUrl,
  SVC_GATEWAY_TOKEN: token,
  SVC_GATEWAY_URL: `http://{session}--{surface}.${gatewayDomain}`,
  SVC_HOST_NETWORKS: '127.0.0.0/8',
  SVC_LOG_LEVEL: 'warn',
});

/** Starts a gateway and waits until it is ready. */
export const startTestGateway = async (options: TestGatewayOptions = {}): Promise<TestGateway> => {
  const control = await startStandInRoutes();
  const config = readConfig(gatewayEnv(control.url));
  const gateway = await startGateway(
    { ...config, ...options, limits: { ...config.limits, ...options.limits } },
    createLog('gateway', 'silent'),
  );
  const port = Number(new URL(gateway.addresses[0] ?? '').port);
  await until(async () => (await fetch(`http://127.0.0.1:${port}/ready`)).ok, {
    timeoutMs: 10_000,
    what: 'the gateway',
  });
  const servers: Server[] = [];
  const serveBy: TestGateway['serveBy'] = async (server, surface = 'api') => {
    servers.push(server);
    const address = `http://127.0.0.1:${await listenLocally(server)}`;
    const sessionId = newId('ses');
    control.change(sessionId, { state: 'READY', surfaces: { [surface]: address } });
    return sessionId;
  };
  return {
    control,
    gateway,
    port,
    serveBy,
    serve: (listener, surface) => serveBy(createServer(listener), surface),
    hostOf: (sessionId, surface = 'api') => `${sessionId}--${surface}.${gatewayDomain}`,
    async stop() {
      await gateway.stop();
      for (const server of servers.filter(({ listening }) => listening)) await endServer(server);
      await control.stop();
    },
  };
};

export const httpsTemplate = (() => {
  const template = parseSurfaceTemplate(`https://{session}--{surface}.${gatewayDomain}`);
  if (template === undefined) throw new Error('the template is not taken');
  return template;
})();

export type Asked = {
  host: string;
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]> | string[];
  body?: string | Buffer;
};

export type Answered = {
  status: number;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  trailers: Record<string, string | undefined>;
  body: string;
  /** Code of a refusal by the gateway itself. */
  code: string | undefined;
};

/** Reads an answer to its end. */
export const readAnswer = async (answer: IncomingMessage): Promise<Answered> => {
  const body = Buffer.concat(await answer.toArray()).toString();
  const isJson = answer.headers['content-type']?.includes('json') === true;
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    rawHeaders: answer.rawHeaders,
    trailers: answer.trailers,
    body,
    code: isJson && body !== '' ? JSON.parse(body).error?.code : undefined,
  };
};

/** Sends a request on a connection of its own. */
export const ask = async (port: number, asked: Asked): Promise<Answered> => {
  const { host, method = 'GET', path = '/', headers = {}, body } = asked;
  const given = Array.isArray(headers) ? ['host', host, ...headers] : { host, ...headers };
  const options = { host: '127.0.0.1', port, method, path, headers: given, agent: false as const };
  const outgoing = openRequest(options);
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return readAnswer(answer);
};

/** Joins lines of a head, with the empty line that ends it. */
export const headLines = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`;

/** Opens a connection on which a test writes any bytes; received bytes are kept. */
export const openRaw = async (port: number): Promise<{ socket: Socket; text(): string }> => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return { socket, text: () => text };
};

/** Writes and reads until the other side closes the connection. */
export const sendRaw = async (port: number, written: string): Promise<string> => {
  const { socket, text } = await openRaw(port);
  socket.write(written, 'latin1');
  await until(() => socket.readableEnded || socket.destroyed, {
    timeoutMs: 10_000,
    what: `the end of the connection; so far: ${text()}`,
  });
  socket.destroy();
  return text();
};
