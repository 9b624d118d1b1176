/** Tests the gateway's metrics of requests, in the form in which Prometheus and operators read them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { newId } from '#domain/id.ts';
import { until } from '#runtime/pause.ts';
import { ask, sendRaw, startTestGateway } from '../../support/gateway/gateway.ts';

const gateway = await startTestGateway({ metricsListen: [{ host: '127.0.0.1', port: 0 }] });

afterAll(() => gateway.stop());

const read = async (path: string): Promise<string> =>
  (await fetch(`${gateway.gateway.metricsAddresses[0]}${path}`)).text();

const shows = (line: string) =>
  until(async () => (await read('/metrics')).split('\n').includes(line), {
    timeoutMs: 30_000,
    what: line,
  });

describe('the metrics of the gateway', () => {
  it('count requests by surface and status, and refusals by their code', async () => {
    const id = await gateway.serve((_, response) => response.writeHead(204).end());
    await ask(gateway.port, { host: gateway.hostOf(id) });
    await ask(gateway.port, { host: gateway.hostOf(newId('ses')) });
    await shows('svc_gateway_requests_total{surface="api",status="204"} 1');
    await shows('svc_gateway_requests_total{surface="api",status="404"} 1');
    await shows('svc_gateway_refusals_total{code="no_such_session"} 1');
    await shows('svc_gateway_request_seconds_count{surface="api"} 2');
    await shows('svc_gateway_under_way 0');
  });

  it('count every refusal, including unreadable requests and those that name no session', async () => {
    const ui = gateway.hostOf(newId('ses'), 'ui');
    await ask(gateway.port, { host: ui });
    await ask(gateway.port, { host: ui, path: '/.svc/enter?token=no' });
    await ask(gateway.port, { host: 'example.com' });
    await sendRaw(gateway.port, 'BAD\r\n\r\n');
    for (const code of ['unauthenticated', 'link_used', 'unknown_host', 'bad_request']) {
      await shows(`svc_gateway_refusals_total{code="${code}"} 1`);
    }
  });

  it('count open tunnels', async () => {
    const server = new WebSocketServer({ noServer: true });
    const http = createServer();
    http.on('upgrade', (request, socket, head) =>
      server.handleUpgrade(request, socket, head, () => undefined),
    );
    const id = await gateway.serveBy(http);
    const client = new WebSocket(`ws://127.0.0.1:${gateway.port}/`, {
      headers: { host: gateway.hostOf(id) },
    });
    await once(client, 'open');
    await shows('svc_gateway_tunnels 1');
    client.close();
    await shows('svc_gateway_tunnels 0');
    await shows('svc_gateway_requests_total{surface="api",status="101"} 1');
  });

  it('are served on the same port as the status of the loop that follows routes', async () => {
    expect(JSON.parse(await read('/status'))).toMatchObject({
      program: 'gateway',
      loops: [{ name: 'follow-routes', failuresInARow: 0 }],
      details: { tunnels: 0 },
    });
  });
});
