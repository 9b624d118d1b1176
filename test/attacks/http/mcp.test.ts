/**
 * Attacks of agents and of authors of worlds on the MCP servers: tools with odd names and hostile
 * schemas, arguments of all kinds, and more requests than a project may have open. The control
 * plane evaluates none of the schemas.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import { until } from '#runtime/pause.ts';
import { createWorld, listWorlds, openSession } from '#wire/public-api/operations.ts';
import { type Answering, answerCalls } from '../../support/control/answering-host.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { bothTypes, connectMcp, rpc, textOf } from '../../support/control/mcp.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { processorMs } from '../../support/programs/processor-time.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

const longName = `x${'-'.repeat(126)}y`;
const names = ['with.dot', 'with-dash', 'a.b-c.d', longName];

/** Deeply nested alternatives, which are expensive to compile. */
const nested = (depth: number): object =>
  depth === 0
    ? { type: 'string', pattern: '^(a+)+$' }
    : { anyOf: [nested(depth - 1), { type: 'object', properties: { deeper: nested(depth - 1) } }] };

const world = (tools: Record<string, object>, functions: string): TreeFile[] => {
  const text = (path: string, content: string) => ({ path, content: Buffer.from(content) });
  const $defs = {
    Loop: { type: 'object', properties: { again: { $ref: '#/$defs/Loop' } } },
    First: { $ref: '#/$defs/Second' },
    Second: { $ref: '#/$defs/Loop' },
  };
  const entities = {
    rows: {
      schema: {
        type: 'object',
        additionalProperties: false,
        required: ['id'],
        properties: { id: { type: 'integer' } },
      },
      primary_key: ['id'],
    },
  };
  const svc = { version: 1, domain_version: '1', package: { id: 'odd', version: '1.0.0' } };
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  const json = { $schema, $id: 'urn:svc:test:odd', $defs, 'x-svc': { ...svc, entities, tools } };
  const serve = JSON.stringify(Object.keys(tools));
  return [
    text('schema/world.json', JSON.stringify(json)),
    text(
      'svc-env.toml',
      `[schema]\nlanguage = "svc-world/1"\n[environment]\nname = "Odd"\nkind = "mock-tools"\n[tools]\nserve = ${serve}\n`,
    ),
    text('tools.py', functions),
  ];
};

const functionOf = (name: string): string =>
  `def ${name.replace(/[.-]/g, '_')}(**given):\n    return {}\n`;

let control: OwnControl;
let host: PlayedHost;
let answering: Answering;
let url: string;
let token: string;

const tools = {
  ...Object.fromEntries(names.map((name) => [name, { input: { type: 'object' }, output: {} }])),
  looping: { input: { $ref: '#/$defs/First' }, output: { $ref: '#/$defs/First' } },
  hostile: { input: { type: 'object', properties: { it: nested(8) } }, output: {} },
};

beforeAll(async () => {
  control = await startOwnControl({ quotas: { waits: 3 } });
  const functions = Object.keys(tools).map(functionOf).join('\n\n');
  await control.send(createWorld, {
    body: { slug: 'odd', from: encodeTree(world(tools, functions)) },
  });
  host = await warmHost(control);
  const { body } = await control.send(openSession, { body: { slug: 'odd' } });
  await host.poll();
  await host.ready();
  url = `${control.running.addresses.public[0]}/api/public/world-sessions/${body.id}/mcp`;
  token = body.surfaces.mcp?.token ?? '';
  answering = answerCalls(host, ({ name, input }) => ({ output: { name, input } }));
});
afterAll(async () => {
  await answering.stop();
  await clearPool(control);
  await control.stop();
});

const headers = () => ({
  authorization: `Bearer ${token}`,
  accept: bothTypes,
  'content-type': 'application/json',
});
const post = (body: string) => fetch(url, { method: 'POST', headers: headers(), body });
const read = async (response: Response) =>
  (await response.json()) as { result?: { isError?: boolean }; error?: { code: number } };

describe('tools of a hostile author', () => {
  it('are listed and called by their names, however odd', async () => {
    const client = await connectMcp(url, `Bearer ${token}`);
    const listed = (await client.listTools()).tools.map(({ name }) => name);
    expect(listed).toEqual(expect.arrayContaining(names));
    for (const name of names) {
      const { structuredContent } = await client.callTool({ name, arguments: { a: 1 } });
      expect(structuredContent).toEqual({ name, input: { a: 1 } });
    }
    await client.close();
  });

  it('have a root schema of type object, also with circular references', async () => {
    const client = await connectMcp(url, `Bearer ${token}`);
    const { tools: listed } = await client.listTools();
    const looping = listed.find(({ name }) => name === 'looping');
    expect(looping?.inputSchema).toMatchObject({
      type: 'object',
      properties: { again: { $ref: '#/$defs/Loop' } },
      $defs: { Loop: {} },
    });
    expect(looping?.inputSchema).not.toHaveProperty('$ref');
    await client.close();
  });

  it('cost the control plane no processor time by their schemas, because it does not evaluate them', async () => {
    const began = processorMs();
    const it = `${'a'.repeat(40)}!`;
    const called = await read(
      await post(rpc('tools/call', { name: 'hostile', arguments: { it } })),
    );
    expect(called.result?.isError).toBeUndefined();
    expect(processorMs() - began).toBeLessThan(5_000);
  });
});

describe('requests of a hostile agent', () => {
  it('cannot use names that every object inherits', async () => {
    for (const body of [
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"with-dash","arguments":{"__proto__":{"a":1}}}}',
      '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{"jsonrpc":"2.0"}}',
    ]) {
      const answer = await post(body);
      expect([answer.status, (await read(answer)).error?.code]).toEqual([400, -32_600]);
    }
    for (const name of ['__proto__', 'constructor', 'toString', '']) {
      const { result } = await read(await post(rpc('tools/call', { name })));
      expect(result?.isError, name).toBe(true);
    }
    expect((await read(await post(rpc('__proto__')))).error?.code).toBe(-32_601);
  });

  it('are refused when they nest too deep or are too large', async () => {
    const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"with-dash","arguments":${'{"a":'.repeat(500)}1${'}'.repeat(500)}}}`;
    expect((await post(deep)).status).toBe(400);
    const large = rpc('tools/call', { name: 'with-dash', arguments: { a: 'a'.repeat(1_200_000) } });
    const answer = await post(large);
    expect([answer.status, (await read(answer)).error?.code]).toEqual([413, -32_600]);
  });

  it('have large arguments parsed in a separate process and delivered unchanged', async () => {
    const client = await connectMcp(url, `Bearer ${token}`);
    const given = { list: Array.from({ length: 60_000 }, (_, at) => at) };
    const { structuredContent } = await client.callTool({ name: 'with-dash', arguments: given });
    expect(structuredContent).toEqual({ name: 'with-dash', input: given });
    await client.close();
  });

  it('get no answer that contains a token sent in them', async () => {
    const secret = `sk-${'A'.repeat(43)}`;
    const answer = await read(await post(rpc('tools/call', { name: secret })));
    expect(JSON.stringify(answer)).not.toContain(secret);
    expect(answer.result?.isError).toBe(true);
  });

  it('reach only the session, and no other address below it', async () => {
    for (const path of ['/calls', '', '/task']) {
      const address = url.replace(/\/mcp$/, path);
      const answer = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
      expect([401, 404, 405], path).toContain(answer.status);
    }
    const service = url.replace(/world-sessions\/.*$/, 'mcp');
    const answer = await fetch(service, { method: 'POST', headers: headers(), body: rpc('ping') });
    expect(answer.status).toBe(401);
  });

  it('are held open only up to the limit of the project', async () => {
    await answering.stop();
    const calls = Array.from({ length: 5 }, () => {
      const leaving = new AbortController();
      const body = rpc('tools/call', { name: 'with-dash' });
      const asked = fetch(url, {
        method: 'POST',
        headers: headers(),
        body,
        signal: leaving.signal,
      });
      return { asked: asked.then(({ status }) => status).catch(() => 0), leaving };
    });
    const refused = await Promise.race([
      Promise.all(calls.map(({ asked }) => asked)),
      new Promise<number[]>((resolve) => {
        const seen: number[] = [];
        for (const { asked } of calls)
          void asked.then((status) => {
            if (status === 429) seen.push(status);
            if (seen.length === 2) resolve(seen);
          });
      }),
    ]);
    expect(refused).toEqual([429, 429]);
    for (const { leaving } of calls) leaving.abort();
    await Promise.all(calls.map(({ asked }) => asked));
    // Clients that disconnected hold no slot, and the service works as before.
    const isServed = async () => (await post(rpc('ping'))).status === 200;
    await until(isServed, { timeoutMs: 4_000, what: 'room for requests' });
    answering = answerCalls(host, () => ({ output: {} }));
    const client = await connectMcp(url, `Bearer ${token}`);
    expect(textOf(await client.callTool({ name: 'with-dash' }))).toBe('{}');
    await client.close();
    expect((await control.send(listWorlds, { query: {} })).status).toBe(200);
  });
});
