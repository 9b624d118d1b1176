/** Tests the MCP server of a project with the official client: its tools are the operations of the API. */
import { readFileSync } from 'node:fs';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isReadAccess } from '#wire/access.ts';
import { basicAuthorization } from '#wire/client.ts';
import type { CallAnswer } from '#wire/host-api/operations.ts';
import { operationsOf } from '#wire/operation.ts';
import * as operations from '#wire/public-api/operations.ts';
import { openSession } from '#wire/public-api/operations.ts';
import { answerCalls } from '../../support/control/answering-host.ts';
import { createAsker } from '../../support/control/client.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import { bothTypes, connectMcp, rpc, textOf } from '../../support/control/mcp.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { projectIdOf } from '../../support/control/settings.ts';

let control: OwnControl;
let client: Client;

const path = '/api/public/mcp';
const pair = () => basicAuthorization(control.publicKey, control.secretKey);

beforeAll(async () => {
  control = await startNotesControl();
  client = await connectMcp(`${control.running.addresses.public[0]}${path}`, pair());
});
afterAll(async () => {
  await client.close();
  await control.stop();
});

const call = async (name: string, args: Record<string, unknown> = {}) =>
  client.callTool({ name, arguments: args });

/** Calls a tool and returns its result. If the tool fails, throws an error with its text. */
const use = async <Value = Record<string, unknown>>(
  name: string,
  args: Record<string, unknown> = {},
): Promise<Value> => {
  const result = await call(name, args);
  if (result.isError === true) throw new Error(textOf(result));
  expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
  return result.structuredContent as Value;
};

const shapes = operationsOf(operations);

describe('the tools of the MCP server', () => {
  it('are those that the operations declare, with their schemas', async () => {
    const { tools } = await client.listTools();
    const declared = shapes.flatMap(({ tools: own = [] }) => own.map(({ name }) => name));
    expect(tools.map(({ name }) => name).sort()).toEqual(declared.sort());
    expect(declared.length).toBeGreaterThan(45);
    for (const { name, inputSchema, outputSchema, description } of tools) {
      expect(name).toMatch(/^[a-z_]{3,64}$/);
      expect(description, name).toMatch(/^[A-Z]/);
      expect(inputSchema, name).toMatchObject({ type: 'object', additionalProperties: false });
      expect(outputSchema, name).toMatchObject({ type: 'object' });
    }
  });

  it('have annotations that say whether they only read', async () => {
    const { tools } = await client.listTools();
    const hints = new Map(tools.map(({ name, annotations }) => [name, annotations]));
    expect(hints.get('list_worlds')).toEqual({ readOnlyHint: true });
    expect(hints.get('delete_world')).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(hints.get('open_world_session')).toMatchObject({ destructiveHint: false });
  });

  it('have the arguments of path, query and body in one schema', async () => {
    const { tools } = await client.listTools();
    const of = (name: string) => tools.find((tool) => tool.name === name)?.inputSchema;
    expect(of('import_world_data')).toMatchObject({
      required: ['slug', 'rows'],
      properties: { redact: {}, rows: {}, slug: {}, idempotencyKey: {} },
    });
    expect(of('seed_world_session')).toMatchObject({
      required: ['sessionId', 'rows'],
      properties: { redact: { enum: ['off', 'apply', 'refuse'] }, wait: {} },
    });
    expect(of('rename_world')?.properties).toMatchObject({ slug: {}, newSlug: {} });
  });
});

describe('a project over MCP', () => {
  it('is described', async () => {
    const project = await use('describe_project');
    expect(project).toMatchObject({
      caller: control.publicKey,
      mayWrite: true,
      worlds: 1,
      openSessions: 0,
      url: 'https://svc.test/api/public',
    });
  });

  it('has worlds created, read, renamed and deleted', async () => {
    const made = await use('create_world', { slug: 'hosting', from: 'code-hosting' });
    expect(made).toMatchObject({ slug: 'hosting' });
    const again = await call('create_world', { slug: 'hosting', from: 'code-hosting' });
    expect(again.isError).toBe(true);
    expect(textOf(again)).toContain('"hosting" is taken');
    const { data } = await use<{ data: { slug: string }[] }>('list_worlds', { limit: 10 });
    expect(data.map(({ slug }) => slug).sort()).toEqual(['hosting', 'notes']);
    expect(
      await use('query_world_data', {
        slug: 'hosting',
        entity: 'issues',
        where: { number: 139 },
        limit: 1,
      }),
    ).toMatchObject({ data: [{ number: 139 }], meta: { totalItems: 1 } });
    expect(await use('rename_world', { slug: 'hosting', newSlug: 'codes' })).toMatchObject({
      slug: 'codes',
    });
    await use('delete_world', { slug: 'codes' });
    expect((await call('describe_world', { slug: 'codes' })).isError).toBe(true);
  });

  it('has rows imported, and a repeated import runs once', async () => {
    const rows = { folders: [{ id: 7, name: 'seven' }] };
    const args = { slug: 'notes', rows, redact: 'off', idempotencyKey: 'seven' };
    const first = await use('import_world_data', args);
    const second = await use('import_world_data', args);
    expect(second.versionId).toBe(first.versionId);
    const refused = await call('import_world_data', {
      slug: 'notes',
      rows: { folders: [{ id: 8 }] },
    });
    expect(textOf(refused)).toContain('name');
    expect(refused.isError).toBe(true);
  });

  it('has sessions opened, used, graded and closed', async () => {
    const host = await warmHost(control);
    const serving = (async () => {
      await host.poll();
      await host.ready();
      return answerCalls(host, ({ kind, name, input }) => ({
        output: { kind, name: name ?? null, input },
      }));
    })();
    const session = await use<{ id: string; ready: boolean }>('open_world_session', {
      slug: 'notes',
      task: 'finish',
    });
    expect(session.ready).toBe(true);
    const sessionId = session.id;
    const answering = await serving;
    const outcome = { sessionId };
    expect(
      await use('call_world_session_tool', { ...outcome, name: 'list_notes', input: { limit: 2 } }),
    ).toMatchObject({
      kind: 'tool',
      state: 'succeeded',
      output: { kind: 'tool', name: 'list_notes', input: { limit: 2 } },
    });
    const rows = { folders: [{ id: 9, name: 'nine' }] };
    expect(await use('seed_world_session', { ...outcome, rows, mode: 'append' })).toMatchObject({
      output: { kind: 'seed', input: { rows, mode: 'append' } },
    });
    const unredacted = await call('seed_world_session', { ...outcome, rows, redact: 'apply' });
    expect(textOf(unredacted)).toContain('connector.toml');
    for (const [tool, kind] of [
      ['grade_world_session', 'grade'],
      ['reset_world_session', 'reset'],
      ['get_world_session_state', 'state'],
    ] as const) {
      expect(await use(tool, outcome)).toMatchObject({ kind, state: 'succeeded' });
    }
    const { data } = await use<{ data: unknown[] }>('list_world_session_calls', outcome);
    expect(data).toHaveLength(5);
    await answering.stop();
    expect(await use('close_world_session', { ...outcome, wait: 0 })).toMatchObject({
      state: 'CLOSING',
    });
    await clearPool(control);
  });

  it('has tasks created, found by their metadata, validated and deleted', async () => {
    const spec = { instruction: 'Finish.', metadata: { suite: 'a' } };
    const task = await use<{ id: string }>('create_world_task', { world: 'notes', spec });
    const found = await use<{ data: unknown[] }>('list_world_tasks', { 'metadata.suite': 'a' });
    expect(found.data).toMatchObject([{ id: task.id }]);
    const none = await use<{ data: unknown[] }>('list_world_tasks', { 'metadata.suite': 'b' });
    expect(none.data).toEqual([]);
    expect(await use('validate_world_task', { taskId: task.id })).toMatchObject({ valid: true });
    await use('delete_world_task', { taskId: task.id });
    expect((await call('get_world_task', { taskId: task.id })).isError).toBe(true);
  });
});

describe('a refused tool call', () => {
  const refusals: [string, Record<string, unknown>, string][] = [
    ['list_world', {}, 'there is no tool "list_world"; did you mean "list_worlds"'],
    ['describe_world', {}, 'invalid request: slug is required'],
    ['describe_world', { slug: 'none' }, 'none'],
    [
      'describe_world',
      { slug: 'notes', version: 1 },
      'version is no argument of the tool describe_world',
    ],
    ['list_worlds', { limit: 1_000 }, 'limit'],
    ['open_world_session', { slug: 7 }, 'slug'],
    ['open_world_session', { slug: 'notes', kind: 'x' }, 'kind is no argument'],
    ['reset_world_session', { sessionId: 'ses-none' }, 'there is no session "ses-none"'],
  ];

  it.each(refusals)('%s %j gets an error message', async (name, args, words) => {
    const result = await call(name, args);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain(words);
  });
});

describe('a call that fails although its request succeeds', () => {
  const failing = async (fail: () => Partial<CallAnswer>) => {
    const host = await warmHost(control);
    const { body } = await control.send(openSession, { body: { slug: 'notes', task: 'finish' } });
    await host.poll();
    await host.ready();
    return { sessionId: body.id, answering: answerCalls(host, fail) };
  };

  it('is an error of the tool, for each kind of call', async () => {
    const error = { code: 'invalid_input', message: 'title must have a character', path: '/title' };
    const { sessionId, answering } = await failing(() => ({ error }));
    const calls: [string, Record<string, unknown>][] = [
      ['call_world_session_tool', { name: 'list_notes' }],
      ['seed_world_session', { rows: { folders: [] } }],
      ['reset_world_session', {}],
      ['grade_world_session', {}],
      ['get_world_session_state', {}],
      ['answer_world_session', { answer: 7 }],
    ];
    for (const [name, args] of calls) {
      const result = await call(name, { sessionId, ...args });
      expect(result.isError, name).toBe(true);
      expect(textOf(result), name).toContain('title must have a character');
      expect(result.structuredContent, name).toMatchObject({ state: 'failed', error });
    }
    const { data } = await use<{ data: { id: string }[] }>('list_world_session_calls', {
      sessionId,
    });
    // To read a failed call is not an error.
    expect(await use('get_world_session_call', { sessionId, callId: data[0]?.id })).toMatchObject({
      state: 'failed',
    });
    await answering.stop();
    await clearPool(control);
  });

  it('is not an error while it is running', async () => {
    const slow = Promise.withResolvers<Partial<CallAnswer>>();
    const { sessionId, answering } = await failing(() => slow.promise as Partial<CallAnswer>);
    const args = { sessionId, name: 'list_notes', wait: 0 };
    expect(['queued', 'claimed']).toContain((await use('call_world_session_tool', args)).state);
    slow.resolve({ output: [] });
    await answering.stop();
    await clearPool(control);
  });

  it('is an error of the tool if a command refuses the files of a world', async () => {
    const files = [{ path: 'schema/world.json', content: Buffer.from('{').toString('base64') }];
    const refused = await call('run_world_command', { command: 'validate', files });
    expect(refused).toMatchObject({ isError: true });
    expect(JSON.parse(textOf(refused))).toMatchObject({ status: 'rejected' });
  });
});

describe('a large MCP message', () => {
  it('imports 30,000 rows', async () => {
    const rows = Array.from({ length: 30_000 }, (_, id) => ({ id: 1_000 + id, name: `f${id}` }));
    await use('import_world_data', { slug: 'notes', rows: { folders: rows } });
    const { entityCounts } = await use<{ entityCounts: { folders: number } }>('query_world_data', {
      slug: 'notes',
    });
    expect(entityCounts.folders).toBeGreaterThan(30_000);
  });

  it('is refused with 413 if it is larger than the limit of every operation', async () => {
    const answer = await control.raw({
      method: 'POST',
      path,
      headers: {
        authorization: pair(),
        accept: bothTypes,
        'content-type': 'application/json',
        'content-length': String(50 * 1024 * 1024),
      },
      body: rpc('ping'),
    });
    expect(answer.status).toBe(413);
  });
});

describe('access to the MCP server', () => {
  const send = (authorization: string, query = '') =>
    control.raw({
      method: 'POST',
      path: `${path}${query}`,
      headers: { authorization, accept: bothTypes, 'content-type': 'application/json' },
      body: rpc('tools/list'),
    });

  it('is refused for the public key and for a wrong secret', async () => {
    expect((await send(`Bearer ${control.publicKey}`)).status).toBe(403);
    expect((await send(basicAuthorization(control.publicKey, 'sk-no'))).status).toBe(401);
    expect((await send(`Bearer st-${'A'.repeat(43)}`)).status).toBe(401);
  });

  it('is given to a token in the project of the address, with the rights of the role of its user', async () => {
    const ask = createAsker(control);
    const as = control.accountAuthorization;
    const projectId = await projectIdOf(control);
    const clientOf = async (role: string) => {
      const email = `${role.toLowerCase()}@example.test`;
      await ask('PUT', '/organizations/memberships', { as, body: { email, role } });
      const made = await ask('POST', '/organizations/tokens', { as, body: { name: 'x', email } });
      const authorization = `Bearer ${(made.body as { token: string }).token}`;
      expect((await send(authorization)).status).toBe(400);
      expect((await send(authorization, '?project_id=prj-none')).status).toBe(404);
      const url = `${control.running.addresses.public[0]}${path}?project_id=${projectId}`;
      return connectMcp(url, authorization);
    };
    const member = await clientOf('MEMBER');
    const viewer = await clientOf('VIEWER');
    const namesOf = async (one: Client) => (await one.listTools()).tools.map(({ name }) => name);
    expect(await namesOf(member)).toEqual(await namesOf(client));
    const reads = shapes.flatMap(({ access, tools = [] }) =>
      isReadAccess(access) ? tools.map(({ name }) => name) : [],
    );
    expect((await namesOf(viewer)).sort()).toEqual(reads.sort());
    const refused = await viewer.callTool({ name: 'delete_world', arguments: { slug: 'notes' } });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain('your credential may only read');
    expect((await viewer.callTool({ name: 'list_worlds' })).isError).toBeUndefined();
    for (const one of [member, viewer]) await one.close();
  });
});

it('docs/use/mcp.md describes every tool of the MCP server', async () => {
  const page = readFileSync(`${import.meta.dirname}/../../../docs/use/mcp.md`, 'utf8');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
