/**
 * The two programs that serve MCP over standard input and output, as clients start them: `svc-mcp serve` by the very
 * configurations that the page of docs has, and `svc worlds session mcp`.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  StdioClientTransport,
  type StdioServerParameters,
} from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from '#wire/public-api/operations.ts';
import { answerCalls } from '../support/answering-host.ts';
import { endServer, listenLocally } from '../support/gateway.ts';
import { clearPool, warmHost } from '../support/host.ts';
import { textOf } from '../support/mcp.ts';
import { type OwnControl, startNotesControl } from '../support/own-control.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/use/mcp.md'), 'utf8');
const program = join(root, 'bin/svc-mcp.mjs');

let control: OwnControl;
beforeAll(async () => {
  control = await startNotesControl();
});
afterAll(() => control.stop());

const url = () => control.running.addresses.public[0] ?? '';

type Started = { client: Client; said: () => string };

/** Starts a program as a client does, elsewhere than in the checkout. */
const start = async (parameters: StdioServerParameters): Promise<Started> => {
  const transport = new StdioClientTransport({ stderr: 'pipe', cwd: tmpdir(), ...parameters });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const client = new Client({ name: 'test', version: '1' });
  try {
    await client.connect(transport);
  } catch (error) {
    throw new Error(`${(error as Error).message}; it said: ${said}`);
  }
  return { client, said: () => said };
};

type Entry = { command: string; args: string[]; env: Record<string, string> };

/** The configuration of a client that the page has, for this checkout and this service. */
const documented = (name: string): Entry => {
  const [, json = ''] = new RegExp(`\`\`\`json ${name}\n([^]*?)\`\`\``).exec(page) ?? [];
  const file = JSON.parse(json) as Record<string, { svc: Entry }>;
  const { command, args, env } = (file.mcpServers ?? file.servers ?? { svc: undefined })
    .svc as Entry;
  expect(Object.keys(env)).toEqual(['SVC_URL', 'SVC_PUBLIC_KEY', 'SVC_SECRET_KEY']);
  return {
    command,
    args: args.map((word) => word.replace('/path/to/svc', root)),
    env: { SVC_URL: url(), SVC_PUBLIC_KEY: control.publicKey, SVC_SECRET_KEY: control.secretKey },
  };
};

describe.each(['claude', 'vscode'])('svc-mcp serve as %s is told to start it', (name) => {
  it('serves the tools of the project', async () => {
    const { client, said } = await start(documented(name));
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(45);
    const project = await client.callTool({ name: 'describe_project' });
    expect(project.structuredContent).toMatchObject({ caller: control.publicKey, worlds: 1 });
    const none = await client.callTool({ name: 'describe_world', arguments: { slug: 'none' } });
    expect(none.isError).toBe(true);
    expect(said()).toMatch(/^svc-mcp: serving the project prj-\S+ \(default\) of http:.*\n$/);
    await client.close();
  });
});

describe('svc-mcp serve', () => {
  const startWith = (env: Record<string, string>) =>
    start({ command: process.execPath, args: [program, 'serve'], env });

  it('prefers the key pair to a token, and says so', async () => {
    const { client, said } = await startWith({
      ...documented('claude').env,
      SVC_API_TOKEN: 'pat_none',
    });
    expect((await client.listTools()).tools.length).toBeGreaterThan(45);
    expect(said()).toContain('the key pair is used; SVC_API_TOKEN is left aside');
    await client.close();
  });

  it.each([
    [{}, 'no credentials: set SVC_PUBLIC_KEY and SVC_SECRET_KEY'],
    [{ SVC_PUBLIC_KEY: 'pk-x' }, 'go together; one of them is not set'],
    [{ SVC_API_TOKEN: 'sk-x' }, 'is no personal access token'],
    [{ SVC_PUBLIC_KEY: 'pk-x', SVC_SECRET_KEY: 'sk-x', SVC_URL: 'here' }, 'SVC_URL'],
    [
      { SVC_PUBLIC_KEY: 'pk-x', SVC_SECRET_KEY: 'sk-x', SVC_URL: 'http://127.0.0.1:1' },
      '127.0.0.1:1',
    ],
  ])('says what is wrong with %j and ends', async (env, words) => {
    await expect(startWith(env as Record<string, string>)).rejects.toThrow(words);
  });

  it('says that a key pair is not valid, and ends', async () => {
    const wrong = startWith({ ...documented('claude').env, SVC_SECRET_KEY: 'sk-no' });
    await expect(wrong).rejects.toThrow('the key pair is not valid');
  });
});

/** The routes that a token needs, before a service: a stand-in for what knows tokens and their projects. */
const startTokens = async (): Promise<{
  server: Server;
  url: string;
  projects: { id: string; name: string }[];
  asked: string[];
}> => {
  const projects = [
    { id: 'prj-a', name: 'first' },
    { id: 'prj-b', name: 'second' },
  ];
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const body = Buffer.concat(await request.toArray()).toString();
    if (request.headers.authorization !== 'Bearer pat_good')
      return answer(401, { message: 'the token is not valid', error: 'unauthenticated' });
    if (request.url === '/api/public/projects') return answer(200, { data: projects });
    if (request.method !== 'POST') return answer(405, { message: 'no streams here' });
    const { id, method, params } = JSON.parse(body);
    if (method === 'tools/call') asked.push(`${request.url} ${JSON.stringify(params.arguments)}`);
    const { pathname, search } = new URL(request.url ?? '', 'http://x');
    const forwarded = await fetch(`${url()}${pathname}`, {
      method: 'POST',
      headers: {
        accept: String(request.headers.accept),
        'content-type': 'application/json',
        authorization: `Basic ${btoa(`${control.publicKey}:${control.secretKey}`)}`,
      },
      body,
    });
    expect(search).toMatch(/^\?project_id=prj-[ab]$/);
    if (id === undefined) {
      response.writeHead(forwarded.status).end();
      return undefined;
    }
    return answer(forwarded.status, await forwarded.json());
  });
  const port = await listenLocally(server);
  return { server, url: `http://127.0.0.1:${port}`, projects, asked };
};

describe('svc-mcp serve with a token', () => {
  let tokens: Awaited<ReturnType<typeof startTokens>>;
  beforeAll(async () => {
    tokens = await startTokens();
  });
  afterAll(() => endServer(tokens.server));

  const startWith = (env: Record<string, string> = {}) =>
    start({
      command: process.execPath,
      args: [program, 'serve'],
      env: { SVC_URL: tokens.url, SVC_API_TOKEN: 'pat_good', ...env },
    });

  it('lists the projects that it reaches, and has each call name one', async () => {
    const { client, said } = await startWith();
    expect(said()).toContain('the token reaches 2 of the projects');
    expect(said()).toContain('prj-a  first');
    expect(said()).toContain('prj-b  second');
    const { tools } = await client.listTools();
    expect(tools.every(({ inputSchema }) => inputSchema.required?.[0] === 'project_id')).toBe(true);
    const args = { project_id: 'prj-b', slug: 'notes' };
    const world = await client.callTool({ name: 'describe_world', arguments: args });
    expect(world.structuredContent).toMatchObject({ slug: 'notes' });
    expect(tokens.asked.at(-1)).toBe('/api/public/mcp?project_id=prj-b {"slug":"notes"}');
    await expect(client.callTool({ name: 'list_worlds' })).rejects.toThrow(
      'the token reaches several projects: name one as "project_id", of prj-a, prj-b',
    );
    await client.close();
  });

  it('looks before each call whether the token reaches the project', async () => {
    const { client } = await startWith({ SVC_PROJECT_ID: 'prj-b' });
    expect((await client.callTool({ name: 'list_worlds' })).isError).toBeUndefined();
    const [, removed] = tokens.projects.splice(1, 1, { id: 'prj-c', name: 'third' });
    await expect(client.callTool({ name: 'list_worlds' })).rejects.toThrow(
      'the token does not reach the project "prj-b"; it reaches prj-a, prj-c',
    );
    tokens.projects.splice(1, 1, removed ?? { id: 'prj-b', name: 'second' });
    await client.close();
  });

  it('says that a token is not valid, and ends', async () => {
    await expect(startWith({ SVC_API_TOKEN: 'pat_bad' })).rejects.toThrow('the token is not valid');
  });
});

describe('svc worlds session mcp', () => {
  it("serves the session's tools, and calls them", async () => {
    const host = await warmHost(control);
    const { body } = await control.send(openSession, { body: { slug: 'notes' } });
    await host.poll();
    await host.ready();
    const answering = answerCalls(host, () => ({ output: 4 }));
    const { client } = await start({
      command: process.execPath,
      args: [join(root, 'bin/svc.mjs'), 'worlds', 'session', 'mcp', body.id],
      env: documented('claude').env,
    });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['list_notes', 'create_notes', 'count_slowly']);
    const counted = await client.callTool({ name: 'count_slowly', arguments: {} });
    expect(counted.structuredContent).toEqual({ result: 4 });
    expect(textOf(counted)).toBe('4');
    await client.close();
    await answering.stop();
    await clearPool(control);
  });

  it('says that there is no such session', async () => {
    const starting = start({
      command: process.execPath,
      args: [join(root, 'bin/svc.mjs'), 'worlds', 'session', 'mcp', 'ses-none'],
      env: documented('claude').env,
    });
    await expect(starting).rejects.toThrow('there is no session "ses-none"');
  });
});
