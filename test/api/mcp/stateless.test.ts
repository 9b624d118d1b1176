/**
 * Tests revision 2026-07-28 of MCP on both servers: with a client that supports only this revision, with one that
 * negotiates, and with single requests. Revisions with a handshake have tests of their own.
 */
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import type { CallAnswer, HostCall } from '#wire/host-api/operations.ts';
import { spokenVersions } from '#wire/mcp-revisions.ts';
import { openSession } from '#wire/public-api/operations.ts';
import { type Answering, answerCalls } from '../../support/control/answering-host.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import {
  bothTypes,
  connectStateless,
  rpc,
  stateless,
  statelessHeaders,
  statelessRpc,
  textOf,
} from '../../support/control/mcp.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;
let answering: Answering;
type Server = { path: string; authorization: string };
const servers: Record<'session' | 'project', Server> = {
  session: { path: '', authorization: '' },
  project: { path: '/api/public/mcp', authorization: '' },
};
const both = ['session', 'project'] as const;
let sessionId: string;

const answerUsually = ({ name, input }: HostCall): Partial<CallAnswer> => {
  if (name === 'list_notes') return { output: [] };
  if (name === 'count_slowly') return { output: 12 };
  const { title } = input as { title?: string };
  return title === ''
    ? { error: { code: 'invalid_input', message: 'title must have a character', path: '/title' } }
    : { output: input };
};

beforeAll(async () => {
  control = await startNotesControl();
  const host = await warmHost(control);
  const { body } = await control.send(openSession, { body: { slug: 'notes' } });
  await host.poll();
  await host.ready();
  answering = answerCalls(host, answerUsually);
  sessionId = body.id;
  servers.session = {
    path: `/api/public/world-sessions/${body.id}/mcp`,
    authorization: `Bearer ${body.surfaces.mcp?.token}`,
  };
  servers.project.authorization = basicAuthorization(control.publicKey, control.secretKey);
});
afterAll(async () => {
  await answering.stop();
  await clearPool(control);
  await control.stop();
});

const urlOf = (server: Server) => `${control.running.addresses.public[0]}${server.path}`;

const post = ({ path, authorization }: Server, body: string, headers: Record<string, string>) =>
  control.raw({
    method: 'POST',
    path,
    headers: { authorization, accept: bothTypes, 'content-type': 'application/json', ...headers },
    body,
  });

type Options = { headers?: Record<string, string>; change?: (body: object) => object };
/** Sends a request of this revision; `options` replace its headers or change its body. */
const ask = (server: Server, method: string, params: object = {}, options: Options = {}) => {
  const { name, uri = name } = params as { name?: string; uri?: string };
  const { headers = statelessHeaders(method, uri), change = (body: object) => body } = options;
  return post(server, JSON.stringify(change(statelessRpc(method, params))), headers);
};

const complete = {
  resultType: 'complete',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'svc', version: '1' } },
};

describe.each(both)('the MCP server of a %s', (which) => {
  it('answers server/discover', async () => {
    const { status, body } = await ask(servers[which], 'server/discover');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: 1,
      result: {
        ...complete,
        supportedVersions: [stateless],
        capabilities: { tools: {}, resources: {} },
        instructions: expect.any(String),
        ttlMs: 60_000,
        cacheScope: 'private',
      },
    });
  });

  it('lists tools and resources that a client may cache', async () => {
    const kept = { ...complete, ttlMs: 60_000, cacheScope: 'private' };
    for (const [method, member] of [
      ['tools/list', 'tools'],
      ['resources/list', 'resources'],
      ['resources/templates/list', 'resourceTemplates'],
    ] as const) {
      const { body } = await ask(servers[which], method);
      expect(body, method).toMatchObject({ result: { ...kept, [member]: expect.any(Array) } });
    }
  });

  it('serves clients that negotiate the revision, and clients with a handshake', async () => {
    const { authorization } = servers[which];
    const connect = async (options: ClientOptions) => {
      const client = new Client({ name: 'test', version: '1' }, options);
      const requestInit = { headers: { authorization } };
      const url = new URL(urlOf(servers[which]));
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
      const version = client.getNegotiatedProtocolVersion();
      expect((await client.listTools()).tools.length).toBeGreaterThan(2);
      await client.close();
      return version;
    };
    expect(await connect({ versionNegotiation: { mode: 'auto' } })).toBe(stateless);
    expect(await connect({})).toBe('2025-11-25');
  });

  it('refuses a request whose headers differ from its message', async () => {
    const call = { name: 'list_notes' };
    const headers = statelessHeaders('tools/call', 'list_notes');
    const { 'mcp-protocol-version': _, ...unversioned } = headers;
    const wrong: [Record<string, string>, string][] = [
      [unversioned, 'MCP-Protocol-Version is absent'],
      [
        { ...headers, 'mcp-protocol-version': '2025-11-25' },
        'MCP-Protocol-Version is "2025-11-25"',
      ],
      [{ 'mcp-protocol-version': stateless }, 'Mcp-Method is absent'],
      [{ ...headers, 'mcp-method': 'tools/list' }, 'Mcp-Method is "tools/list"'],
      [statelessHeaders('tools/call'), 'Mcp-Name is absent'],
      [statelessHeaders('tools/call', 'delete_world'), 'Mcp-Name is "delete_world"'],
    ];
    for (const [given, words] of wrong) {
      const { status, body } = await ask(servers[which], 'tools/call', call, { headers: given });
      expect(status, words).toBe(400);
      expect(body, words).toMatchObject({
        id: 1,
        error: { code: -32_020, message: expect.stringContaining(words) },
      });
    }
  });

  it('refuses a request without the required metadata', async () => {
    const versionKey = 'io.modelcontextprotocol/protocolVersion';
    const metas = [
      undefined,
      {},
      { [versionKey]: stateless },
      { [versionKey]: stateless, 'io.modelcontextprotocol/clientCapabilities': 7 },
      { [versionKey]: 7, 'io.modelcontextprotocol/clientCapabilities': {} },
    ];
    for (const _meta of metas) {
      const change = (body: object) => ({ ...body, params: { _meta } });
      const { status, body } = await ask(servers[which], 'tools/list', {}, { change });
      expect(status, JSON.stringify(_meta)).toBe(400);
      expect(body, JSON.stringify(_meta)).toMatchObject({ id: 1, error: { code: -32_602 } });
    }
  });

  it('lists the supported revisions for an unsupported one, in the header or in the body', async () => {
    const unspoken = '2027-01-01';
    const meta = { 'io.modelcontextprotocol/protocolVersion': unspoken };
    const headers = { 'mcp-protocol-version': unspoken };
    for (const [body, given] of [
      [rpc('tools/list'), headers],
      [rpc('tools/list', { _meta: meta }), headers],
      [rpc('tools/list', { _meta: meta }), {}],
    ] as [string, Record<string, string>][]) {
      const { status, body: refused } = await post(servers[which], body, given);
      expect(status, body).toBe(400);
      expect(refused, body).toMatchObject({
        id: 1,
        error: {
          code: -32_022,
          data: { requested: unspoken, supported: [...spokenVersions] },
        },
      });
    }
  });

  it('answers 404 to methods that the revision does not have', async () => {
    for (const method of ['ping', 'prompts/list', 'subscriptions/listen', 'constructor']) {
      const { status, body } = await ask(servers[which], method);
      expect([status, body], method).toMatchObject([404, { id: 1, error: { code: -32_601 } }]);
    }
    const handshake = await post(servers[which], rpc('server/discover'), {});
    expect([handshake.status, handshake.body]).toMatchObject([200, { error: { code: -32_601 } }]);
  });

  it('answers invalid parameters with one error code', async () => {
    for (const uri of ['file:///etc/passwd', '文']) {
      const headers = statelessHeaders(
        'resources/read',
        `=?base64?${Buffer.from(uri).toString('base64')}?=`,
      );
      const { status, body } = await ask(servers[which], 'resources/read', { uri }, { headers });
      expect([status, body]).toMatchObject([200, { error: { code: -32_602 } }]);
    }
    const { body } = await ask(servers[which], 'tools/call', { name: 'x', arguments: [1] });
    expect(body).toMatchObject({ error: { code: -32_602 } });
  });

  it('answers initialize with a supported revision, whatever the header names', async () => {
    for (const [asked, header, agreed] of [
      ['2026-06-18', '2026-06-18', '2025-11-25'],
      ['2025-11-25', '2026-06-18', '2025-11-25'],
      ['2025-06-18', '2026-07-28', '2025-06-18'],
      ['2026-07-28', '2026-07-28', '2025-11-25'],
      ['2025-11-25', '1999-01-01', '2025-11-25'],
    ] as const) {
      const clientInfo = { name: 'c', version: '0' };
      const hello = rpc('initialize', { protocolVersion: asked, capabilities: {}, clientInfo });
      const { status, body } = await post(servers[which], hello, {
        'mcp-protocol-version': header,
      });
      expect([status, body]).toMatchObject([200, { result: { protocolVersion: agreed } }]);
    }
  });

  it('refuses several messages in one body, and sends no answer to a notification', async () => {
    const two = JSON.stringify([
      statelessRpc('tools/list', {}, 1),
      statelessRpc('tools/list', {}, 2),
    ]);
    for (const headers of [{}, { 'mcp-protocol-version': stateless }] as Record<string, string>[]) {
      const { status, body } = await post(servers[which], two, headers);
      expect([status, body]).toMatchObject([400, { id: null, error: { code: -32_600 } }]);
    }
    const { id: _, ...notification } = statelessRpc('notifications/cancelled', { requestId: 1 });
    const outcome = await post(servers[which], JSON.stringify(notification), {});
    expect([outcome.status, outcome.body]).toEqual([202, '']);
  });

  it('names the id of a request that it refuses for its headers', async () => {
    const { status, body } = await ask(
      servers[which],
      'tools/list',
      {},
      {
        headers: { ...statelessHeaders('tools/list'), accept: 'application/json' },
      },
    );
    expect([status, body]).toMatchObject([406, { id: 1, error: { code: -32_600 } }]);
  });
});

describe('a client that supports only this revision', () => {
  it('calls the tools of a session, and gets progress and errors', async () => {
    const client = await connectStateless(urlOf(servers.session), servers.session.authorization);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['list_notes', 'create_notes', 'count_slowly']);
    const list = await client.callTool({ name: 'list_notes', arguments: { limit: 1 } });
    expect(list.structuredContent).toEqual({ result: [] });
    const heard: unknown[] = [];
    const onprogress = (progress: unknown) => heard.push(progress);
    const count = await client.callTool({ name: 'count_slowly' }, { onprogress });
    expect(count.structuredContent).toEqual({ result: 12 });
    expect(heard).toEqual([
      { progress: 0, message: 'taken' },
      { progress: 1, message: 'answered' },
    ]);
    const note = { id: 7, folder_id: 1, title: '', done: false };
    const failed = await client.callTool({ name: 'create_notes', arguments: note });
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).toBe('invalid_input: title must have a character\nat /title');
    const { contents } = await client.readResource({ uri: 'svc://world/README.md' });
    expect((contents[0] as { text: string }).text).toContain('count_slowly');
    await client.close();
  });

  it('calls the tools of a project', async () => {
    const client = await connectStateless(urlOf(servers.project), servers.project.authorization);
    const project = await client.callTool({ name: 'describe_project' });
    expect(project.structuredContent).toMatchObject({ caller: control.publicKey });
    const state = await client.callTool({
      name: 'get_world_session_state',
      arguments: { sessionId },
    });
    expect(state.structuredContent).toMatchObject({ kind: 'state', state: 'succeeded' });
    const none = await client.callTool({ name: 'describe_world', arguments: { slug: 'none' } });
    expect(none.isError).toBe(true);
    await client.close();
  });
});
