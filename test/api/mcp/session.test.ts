/** Tests the MCP server of a session, with the official client and with single requests. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import type { CallAnswer, HostCall } from '#wire/host-api/operations.ts';
import { closeSession, getSession, listCalls, openSession } from '#wire/public-api/operations.ts';
import { type Answering, answerCalls } from '../../support/control/answering-host.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { bothTypes, connectMcp, rpc, textOf } from '../../support/control/mcp.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;
let host: PlayedHost;
let sessionId: string;
let token: string;
let answering: Answering | undefined;

const pair = () => basicAuthorization(control.publicKey, control.secretKey);
const pathOf = (id = sessionId) => `/api/public/world-sessions/${id}/mcp`;
const urlOf = (id = sessionId) => `${control.running.addresses.public[0]}${pathOf(id)}`;
const connect = () => connectMcp(urlOf(), `Bearer ${token}`);

const open = async (body: object = {}): Promise<{ id: string; token: string }> => {
  const opened = await control.send(openSession, { body: { slug: 'notes', ...body } });
  return { id: opened.body.id, token: opened.body.surfaces.mcp?.token ?? '' };
};

/** Opens a session that a simulated host serves. */
const serve = async (
  body: object,
  answer: (call: HostCall) => Promise<Partial<CallAnswer>> | Partial<CallAnswer>,
): Promise<void> => {
  host = await warmHost(control);
  ({ id: sessionId, token } = await open(body));
  await host.poll();
  await host.ready();
  answering = answerCalls(host, answer);
};

const note = { id: 7, folder_id: 1, title: 'seventh', done: false };
const answerUsually = ({ name, input }: HostCall): Partial<CallAnswer> => {
  if (name === 'list_notes') return { output: [note] };
  if (name === 'count_slowly') return { output: 12 };
  const { title } = input as { title?: string };
  if (title === '')
    return {
      error: {
        code: 'invalid_input',
        message: 'title must have a character',
        path: '/title',
        details: { minLength: 1 },
      },
    };
  return { output: input };
};

beforeAll(async () => {
  control = await startNotesControl();
});
beforeEach(() => serve({}, answerUsually));
afterEach(async () => {
  await answering?.stop();
  await clearPool(control);
});
afterAll(() => control.stop());

const send = (body: string, headers: Record<string, string> = {}, path = pathOf()) =>
  control.raw({
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

describe('the MCP address of a session', () => {
  it('is shown with its token only to the secret key, also for a world without an API', async () => {
    const { body } = await control.send(getSession, { params: { sessionId } });
    expect(body.surfaces).toEqual({
      mcp: { url: `https://svc.test${pathOf()}`, token: expect.stringMatching(/^st-/) },
    });
    const read = await control.read(getSession, { params: { sessionId } });
    expect(read.body.surfaces).toEqual({ mcp: { url: `https://svc.test${pathOf()}` } });
  });

  it('is not shown for a session that is over', async () => {
    await answering?.stop();
    await control.send(closeSession, { params: { sessionId }, body: {} });
    const { body } = await control.send(getSession, { params: { sessionId } });
    expect(body.surfaces).toEqual({});
  });
});

describe('the official MCP client', () => {
  it('lists the tools, each with an object at the root of its schemas', async () => {
    const client = await connect();
    expect(client.getServerVersion()).toMatchObject({ name: 'svc' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['list_notes', 'create_notes', 'count_slowly']);
    const [list, create, count] = tools;
    expect(list).toMatchObject({
      annotations: { readOnlyHint: true },
      inputSchema: { type: 'object', additionalProperties: false },
      outputSchema: {
        type: 'object',
        required: ['result'],
        properties: { result: { type: 'array', items: { $ref: '#/$defs/Note' } } },
        $defs: { Note: { type: 'object' } },
      },
    });
    expect(create).toMatchObject({
      annotations: { readOnlyHint: false, destructiveHint: false },
      inputSchema: { type: 'object', required: ['id', 'folder_id', 'title', 'done'] },
      outputSchema: { type: 'object', required: ['id', 'folder_id', 'title', 'done'] },
    });
    expect(create?.inputSchema).not.toHaveProperty('$ref');
    expect(count?.description).toBe('Adds one note after a pause, and answers how many there are.');
    expect(count).not.toHaveProperty('annotations');
    await client.close();
  });

  it('calls tools, and gets their output as text and as a value of the schema', async () => {
    const client = await connect();
    await client.listTools(); // From here on, the client validates results against their schemas.
    const list = await client.callTool({ name: 'list_notes', arguments: { limit: 1 } });
    expect(list.structuredContent).toEqual({ result: [note] });
    expect(JSON.parse(textOf(list))).toEqual([note]);
    const made = await client.callTool({ name: 'create_notes', arguments: note });
    expect(made.structuredContent).toEqual(note);
    const count = await client.callTool({ name: 'count_slowly' });
    expect(count.structuredContent).toEqual({ result: 12 });
    expect(answering?.calls.map(({ name, input }) => ({ name, input }))).toEqual([
      { name: 'list_notes', input: { limit: 1 } },
      { name: 'create_notes', input: note },
      { name: 'count_slowly', input: {} },
    ]);
    const { body } = await control.send(listCalls, { params: { sessionId }, query: {} });
    expect(body.data.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'list_notes succeeded',
      'create_notes succeeded',
      'count_slowly succeeded',
    ]);
    await client.close();
  });

  it('gets errors as text that a model can act on', async () => {
    const client = await connect();
    await client.listTools();
    const failed = await client.callTool({
      name: 'create_notes',
      arguments: { ...note, title: '' },
    });
    expect(failed).toMatchObject({ isError: true });
    expect(textOf(failed)).toBe(
      'invalid_input: title must have a character\nat /title\n{"minLength":1}',
    );
    const unknown = await client.callTool({ name: 'list_note' });
    expect(unknown).toMatchObject({ isError: true });
    expect(textOf(unknown)).toBe('the world has no tool "list_note"; did you mean "list_notes"?');
    await client.close();
  });

  it('reads the README of the world, and finds no task in a session without one', async () => {
    const client = await connect();
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['svc://world/README.md']);
    const { contents } = await client.readResource({ uri: 'svc://world/README.md' });
    expect(contents[0]).toMatchObject({ mimeType: 'text/markdown' });
    expect((contents[0] as { text: string }).text).toContain('count_slowly');
    await expect(client.readResource({ uri: 'svc://world/handlers.py' })).rejects.toMatchObject({
      code: -32_002,
    });
    expect(await client.listResourceTemplates()).toEqual({ resourceTemplates: [] });
    await client.close();
  });

  it('gets concurrent calls answered, each in its own request', async () => {
    const client = await connect();
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, id) =>
        client.callTool({ name: 'create_notes', arguments: { ...note, id } }),
      ),
    );
    expect(results.map(({ structuredContent }) => structuredContent)).toEqual(
      results.map((_, id) => ({ ...note, id })),
    );
    expect(answering?.calls).toHaveLength(20);
    await client.close();
  });

  it('gets progress notifications of a call if it requests them', async () => {
    const client = await connect();
    const heard: unknown[] = [];
    const options = { onprogress: (progress: unknown) => heard.push(progress) };
    const result = await client.callTool({ name: 'count_slowly' }, undefined, options);
    expect(result.structuredContent).toEqual({ result: 12 });
    expect(heard).toEqual([
      { progress: 0, message: 'taken' },
      { progress: 1, message: 'answered' },
    ]);
    await client.close();
  });
});

describe('a task that selects some tools', () => {
  const task = { instruction: 'Count.', tools: ['count_slowly'] };
  beforeEach(async () => {
    await answering?.stop();
    await clearPool(control);
    await serve({ task }, answerUsually);
  });

  it('offers these tools and no others', async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['count_slowly']);
    const refused = await client.callTool({ name: 'list_notes' });
    expect(refused).toMatchObject({ isError: true });
    expect(textOf(refused)).toContain('the task does not offer the tool "list_notes"');
    expect(answering?.calls).toEqual([]);
    await client.close();
  });

  it('has its instruction as a resource', async () => {
    const client = await connect();
    const { contents } = await client.readResource({ uri: 'svc://session/instruction' });
    expect(contents).toEqual([
      { uri: 'svc://session/instruction', mimeType: 'text/markdown', text: 'Count.' },
    ]);
    await client.close();
  });
});

describe('a long call', () => {
  it('is answered by an event stream that begins before the answer', async () => {
    await answering?.stop();
    await clearPool(control);
    const slow = Promise.withResolvers<void>();
    await serve({}, async () => {
      await slow.promise;
      return { output: 3 };
    });
    const response = await fetch(urlOf(), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        accept: bothTypes,
        'content-type': 'application/json',
      },
      body: rpc('tools/call', { name: 'count_slowly' }),
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    slow.resolve();
    const text = await response.text();
    const [, data = ''] = /^: at work\n\nevent: message\ndata: (.*)\n\n$/.exec(text) ?? [];
    expect(JSON.parse(data)).toMatchObject({ id: 1, result: { structuredContent: { result: 3 } } });
  }, 30_000);

  it('continues to its end when its client has disconnected', async () => {
    const began = Promise.withResolvers<void>();
    const slow = Promise.withResolvers<void>();
    await answering?.stop();
    await clearPool(control);
    await serve({}, async () => {
      began.resolve();
      await slow.promise;
      return { output: 3 };
    });
    const client = await connect();
    const leaving = new AbortController();
    const calling = client.callTool({ name: 'count_slowly' }, undefined, {
      signal: leaving.signal,
    });
    const refused = expect(calling).rejects.toThrow();
    await began.promise;
    leaving.abort('the user has no more patience');
    await refused;
    await client.close();
    slow.resolve();
    await answering?.stop();
    const { body } = await control.send(listCalls, { params: { sessionId }, query: {} });
    expect(body.data).toMatchObject([{ name: 'count_slowly', state: 'succeeded' }]);
  });
});

describe('access to the MCP server of a session', () => {
  const list = rpc('tools/list');

  it('is given to the token of the session and to the key pair of the project', async () => {
    expect((await send(list)).status).toBe(200);
    expect((await send(list, { authorization: pair() })).status).toBe(200);
  });

  it('is refused for every other credential', async () => {
    const other = await open();
    const wrong: [string, string, number][] = [
      ["another session's token", `Bearer ${other.token}`, 401],
      ['a token like one', `Bearer st-${'A'.repeat(43)}`, 401],
      ['the public key', `Bearer ${control.publicKey}`, 403],
      ['a wrong secret', basicAuthorization(control.publicKey, 'sk-no'), 401],
    ];
    for (const [who, authorization, status] of wrong) {
      expect((await send(list, { authorization })).status, who).toBe(status);
    }
    expect((await send(list, {}, pathOf('ses-none'))).status).toBe(401);
    expect((await send(list, { authorization: pair() }, pathOf('ses-none'))).status).toBe(404);
  });

  it('ends with the session, and the errors say that the session is over', async () => {
    await answering?.stop();
    await control.send(closeSession, { params: { sessionId }, body: {} });
    const listed = await send(list);
    expect(listed.body).toMatchObject({
      error: { code: -32_000, message: expect.stringContaining(`${sessionId} is CLOSING`) },
    });
    const called = await send(rpc('tools/call', { name: 'list_notes' }));
    expect(called.body).toMatchObject({ result: { isError: true } });
    expect(textOf((called.body as { result: unknown }).result)).toContain('takes no calls');
  });
});
