/**
 * Tests the relay between standard streams and an MCP server: errors of the server, cancelled requests, and the
 * revision without a handshake. `stdio.test.ts` tests the programs that use it.
 */

import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import type { CallAnswer } from '#wire/host-api/operations.ts';
import { relayStdio } from '#wire/mcp-relay.ts';
import { listCalls, openSession } from '#wire/public-api/operations.ts';
import { type Answering, answerCalls } from '../../support/control/answering-host.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import { stateless, statelessRpc } from '../../support/control/mcp.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { endServer, listenLocally } from '../../support/gateway/gateway.ts';

const root = join(import.meta.dirname, '../../..');

let control: OwnControl;
let sessionId: string;
let answering: Answering;
let slow = Promise.withResolvers<Partial<CallAnswer>>();
let began = Promise.withResolvers<void>();

beforeAll(async () => {
  control = await startNotesControl();
  const host = await warmHost(control);
  const { body } = await control.send(openSession, { body: { slug: 'notes' } });
  await host.poll();
  await host.ready();
  sessionId = body.id;
  answering = answerCalls(host, ({ name }) => {
    if (name !== 'count_slowly') return { output: [] };
    began.resolve();
    return slow.promise;
  });
});
afterAll(async () => {
  await answering.stop();
  await clearPool(control);
  await control.stop();
});

const url = () => control.running.addresses.public[0] ?? '';
const pair = () => basicAuthorization(control.publicKey, control.secretKey);

type Answer = { id?: unknown; error?: object; result?: object };

/** Sends messages through a relay to the server of the session, and returns the answers once the input has ended. */
const relay = async (
  write: (send: (message: object) => void) => Promise<void> | void,
  address = `${url()}/api/public/world-sessions/${sessionId}/mcp`,
) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const notes: string[] = [];
  const relaying = relayStdio({
    input,
    output,
    authorization: pair(),
    direct: async (message) => ({ address, message }),
    note: (message) => notes.push(message),
  });
  await write((message) => input.write(`${JSON.stringify(message)}\n`));
  input.end();
  await relaying;
  output.end();
  const lines = (await output.toArray()).join('').split('\n').filter(Boolean);
  return { notes, answers: lines.map((line) => JSON.parse(line) as Answer) };
};

describe('the MCP relay', () => {
  it('passes errors of the server on unchanged', async () => {
    const unspoken = statelessRpc('tools/list', {}, 'a');
    const meta = {
      ...unspoken.params._meta,
      'io.modelcontextprotocol/protocolVersion': '2027-01-01',
    };
    const { answers } = await relay((send) => {
      send({ ...unspoken, params: { _meta: meta } });
      send(statelessRpc('ping', {}, 'b'));
      send({ jsonrpc: '2.0', id: 'c', method: 'server/discover' });
    });
    const byId = new Map(answers.map(({ id, error }) => [id, error]));
    expect(byId.get('a')).toMatchObject({
      code: -32_022,
      data: { requested: '2027-01-01', supported: expect.arrayContaining([stateless]) },
    });
    expect(byId.get('b')).toMatchObject({ code: -32_601 });
    expect(byId.get('c')).toMatchObject({ code: -32_601 });
  });

  it('encodes names that a header cannot contain', async () => {
    const { answers } = await relay((send) => {
      send(statelessRpc('tools/call', { name: 'наблюдать' }));
    });
    expect(answers).toMatchObject([{ id: 1, result: { isError: true } }]);
  });

  it('answers a request whose event stream breaks off before the answer', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': at work\n\n', () => response.destroy());
    });
    const address = `http://127.0.0.1:${await listenLocally(server)}/mcp`;
    const { answers } = await relay((send) => send(statelessRpc('tools/list')), address);
    expect(answers).toMatchObject([{ id: 1, error: { code: -32_603 } }]);
    await endServer(server);
  });

  it('sends no answer to a cancelled request, while the call continues', async () => {
    slow = Promise.withResolvers();
    began = Promise.withResolvers();
    const { answers, notes } = await relay(async (send) => {
      send(statelessRpc('tools/call', { name: 'count_slowly' }, 'slow'));
      await began.promise;
      send({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: 'slow', reason: 'no more patience' },
      });
    });
    slow.resolve({ output: 3 });
    expect({ answers, notes }).toEqual({ answers: [], notes: [] });
    await answering.stop();
    const { body } = await control.send(listCalls, { params: { sessionId }, query: {} });
    expect(body.data.at(-1)).toMatchObject({ name: 'count_slowly', state: 'succeeded' });
  });
});

describe('a client that negotiates the protocol revision', () => {
  const start = async (args: string[]) => {
    const env = {
      SVC_URL: url(),
      SVC_PUBLIC_KEY: control.publicKey,
      SVC_SECRET_KEY: control.secretKey,
    };
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: 'auto' } },
    );
    const command = { command: process.execPath, args, env, cwd: tmpdir() };
    await client.connect(new StdioClientTransport({ ...command, stderr: 'ignore' }));
    return client;
  };

  it('uses the revision without a handshake with svc-mcp serve', async () => {
    const client = await start([join(root, 'bin/svc-mcp.mjs'), 'serve']);
    expect(client.getNegotiatedProtocolVersion()).toBe(stateless);
    expect((await client.listTools()).tools.length).toBeGreaterThan(45);
    const project = await client.callTool({ name: 'describe_project' });
    expect(project.structuredContent).toMatchObject({ caller: control.publicKey });
    await client.close();
  });

  it('uses the revision without a handshake with svc worlds session mcp', async () => {
    const client = await start([join(root, 'bin/svc.mjs'), 'worlds', 'session', 'mcp', sessionId]);
    expect(client.getNegotiatedProtocolVersion()).toBe(stateless);
    expect((await client.listTools()).tools).toHaveLength(3);
    await client.close();
  });
});
