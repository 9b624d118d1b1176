/**
 * A control plane as a world host sees it, with nothing behind it: it accepts reports of warm hosts, holds their
 * polls, and answers heartbeats. For tests of container runtimes, where no session is opened.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type HostApi = {
  port: number;
  /** Addresses in the hosts' warm reports; '' if a host does not know its own. */
  warm: Map<string, string>;
  /** Tokens that each host sent, in order. */
  tokens: Map<string, string[]>;
  /** Hosts that are refused as stale from now on. */
  refused: Set<string>;
  close(): Promise<void>;
};

const hostPath = /^\/api\/host\/hosts\/([^/]+)\/(warm|poll|heartbeat)$/;

const readJson = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const text = (await request.toArray()).join('');
  return text === '' ? {} : JSON.parse(text);
};

const answer = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** Listens on the same port of each address. */
export const startHostApi = async (addresses: readonly string[]): Promise<HostApi> => {
  const warm = new Map<string, string>();
  const tokens = new Map<string, string[]>();
  const refused = new Set<string>();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, hostId = '', operation] = hostPath.exec(request.url ?? '') ?? [];
    const body = await readJson(request);
    const result = tokens.get(hostId) ?? [];
    tokens.set(hostId, [...new Set([...result, String(request.headers.authorization)])]);
    if (refused.has(hostId)) return answer(response, 409, { error: 'conflict', message: 'stale' });
    switch (operation) {
      case 'warm':
        warm.set(hostId, String(body.address ?? ''));
        return answer(response, 200, { state: 'warm', token: `working-${hostId}` });
      case 'poll':
        return; // held until the server closes
      case 'heartbeat':
        return answer(response, 200, { drain: false });
      default:
        return answer(response, 404, { error: 'not_found', message: `no ${request.url}` });
    }
  };
  let port = 0;
  const servers: Server[] = [];
  for (const address of addresses) {
    const server = createServer((request, response) => void handle(request, response));
    server.listen(port, address);
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    servers.push(server);
  }
  return {
    port,
    warm,
    tokens,
    refused,
    async close() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
        await once(server, 'close');
      }
    },
  };
};
