/** Tests the MCP server of a session behind a gateway: at an address of its own, with the token of the session. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseSurfaceTemplate } from '#domain/surface-address.ts';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { openSession } from '#wire/public-api/operations.ts';
import { readConfig } from '../../../src/gateway/config.ts';
import { type RunningGateway, startGateway } from '../../../src/gateway/program.ts';
import { type Answering, answerCalls } from '../../support/control/answering-host.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import {
  bothTypes,
  rpc,
  stateless,
  statelessHeaders,
  statelessRpc,
} from '../../support/control/mcp.ts';
import {
  createNotes,
  type OwnControl,
  startOwnControl,
} from '../../support/control/own-control.ts';
import { ask, gatewayDomain, gatewayEnv } from '../../support/gateway/gateway.ts';

const template = parseSurfaceTemplate(`http://{session}--{surface}.${gatewayDomain}`);
if (template === undefined) throw new Error('the template is not taken');

let control: OwnControl;
let gateway: RunningGateway;
let port: number;
let answering: Answering;
let place: { url: string; token: string };

beforeAll(async () => {
  control = await startOwnControl({ gateway: { template, token: new Secret('gateway-token') } });
  await createNotes(control);
  const env = gatewayEnv(control.running.addresses.internal[0] ?? '');
  gateway = await startGateway(readConfig(env), createLog('gateway', 'silent'));
  port = Number(new URL(gateway.addresses[0] ?? '').port);
  const host = await warmHost(control);
  const { body } = await control.send(openSession, { body: { slug: 'notes' } });
  await host.poll();
  await host.ready();
  answering = answerCalls(host, ({ name }) => ({ output: name === 'list_notes' ? [] : 1 }));
  const { url = '', token = '' } = body.surfaces.mcp ?? {};
  place = { url, token };
});
afterAll(async () => {
  await answering.stop();
  await clearPool(control);
  await gateway.stop();
  await control.stop();
});

const post = (body: string, { path = '/mcp', token = place.token, host = '', headers = {} } = {}) =>
  ask(port, {
    host: host || new URL(place.url).host,
    method: 'POST',
    path,
    headers: {
      authorization: `Bearer ${token}`,
      accept: bothTypes,
      'content-type': 'application/json',
      ...headers,
    },
    body,
  });

it('the MCP server is served at the address in the view of the session', () => {
  expect(place.url).toMatch(/^http:\/\/ses-\w+--mcp\.worlds\.test\/mcp$/);
});

it('the MCP server lists tools and calls them', async () => {
  const listed = await post(rpc('tools/list'));
  expect(listed.status).toBe(200);
  expect(JSON.parse(listed.body).result.tools).toHaveLength(3);
  const called = await post(rpc('tools/call', { name: 'list_notes' }));
  expect(JSON.parse(called.body).result.structuredContent).toEqual({ result: [] });
  const outcome = await post(
    rpc('tools/call', { name: 'count_slowly', _meta: { progressToken: 'p' } }),
  );
  expect(outcome.headers['content-type']).toBe('text/event-stream');
  expect(outcome.body.match(/^data: /gm)).toHaveLength(3);
});

it('the MCP server supports the protocol revision without a handshake', async () => {
  const ofMethod = (method: string, name?: string) =>
    post(JSON.stringify(statelessRpc(method, { name })), {
      headers: statelessHeaders(method, name),
    });
  const found = await ofMethod('server/discover');
  expect(JSON.parse(found.body).result).toMatchObject({ supportedVersions: [stateless] });
  const called = await ofMethod('tools/call', 'list_notes');
  expect(JSON.parse(called.body).result).toMatchObject({ resultType: 'complete' });
  expect((await ofMethod('ping')).status).toBe(404);
});

it('the MCP server requires the token of its own session', async () => {
  expect((await post(rpc('tools/list'), { token: `st-${'A'.repeat(43)}` })).status).toBe(401);
  const host = `ses-01kaz4x0pg8q2m5v7n3c1d9e6f--mcp.${gatewayDomain}`;
  expect((await post(rpc('tools/list'), { host })).status).toBe(401);
});

it('the gateway serves one path and one method of the MCP server, and forwards nothing else', async () => {
  for (const path of ['/', '/mcp/x', '/api/public/worlds', '/api/gateway/changes']) {
    const answer = await post(rpc('tools/list'), { path });
    expect([answer.status, answer.code], path).toEqual([404, 'not_found']);
  }
  const read = await ask(port, { host: new URL(place.url).host, path: '/mcp' });
  expect(read.status).toBe(405);
});
