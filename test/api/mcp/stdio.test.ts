/**
 * Tests the two programs that serve MCP over standard input and output, started as clients start them: `svc-mcp serve`
 * with the configurations from docs/use/mcp.md, and `svc worlds session mcp`.
 */
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  StdioClientTransport,
  type StdioServerParameters,
} from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { openSession } from '#wire/public-api/operations.ts';
import { answerCalls } from '../../support/control/answering-host.ts';
import { createAsker } from '../../support/control/client.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import { textOf } from '../../support/control/mcp.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { projectIdOf } from '../../support/control/settings.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/use/mcp.md'), 'utf8');
const program = join(root, 'bin/svc-mcp.mjs');

let control: OwnControl;
beforeAll(async () => {
  control = await startNotesControl();
});
afterAll(() => control.stop());

const url = () => control.running.addresses.public[0] ?? '';

type Started = { client: Client; said: () => string };

/** Starts a program as a client does, in a folder outside the checkout. */
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

/**
 * Returns the client configuration from docs/use/mcp.md, with the paths of this checkout and the keys of this service.
 */
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

describe.each(['claude', 'vscode'])('svc-mcp serve as the docs configure it for %s', (name) => {
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

  it('prefers the key pair to a token, and reports it', async () => {
    const { client, said } = await startWith({
      ...documented('claude').env,
      SVC_API_TOKEN: 'pat_none',
    });
    expect((await client.listTools()).tools.length).toBeGreaterThan(45);
    expect(said()).toContain('the key pair is used; SVC_API_TOKEN is ignored');
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
  ])('reports the error of %j and exits', async (env, words) => {
    await expect(startWith(env as Record<string, string>)).rejects.toThrow(words);
  });

  it('reports that a key pair is not valid, and exits', async () => {
    const wrong = startWith({ ...documented('claude').env, SVC_SECRET_KEY: 'sk-no' });
    await expect(wrong).rejects.toThrow('the key pair is not valid');
  });
});

/** Adds a member of these projects and creates a token for it. */
const memberWith = async (projectIds: readonly string[]) => {
  const ask = createAsker(control);
  const as = control.accountAuthorization;
  const email = `member-${projectIds.length}@example.test`;
  await ask('PUT', '/organizations/memberships', { as, body: { email, role: 'NONE' } });
  for (const projectId of projectIds) {
    const path = `/projects/${projectId}/memberships`;
    await ask('PUT', path, { as, body: { email, role: 'MEMBER' } });
  }
  const made = await ask('POST', '/organizations/tokens', { as, body: { name: 'x', email } });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return { token: (made.body as { token: string }).token };
};

describe('svc-mcp serve with a token', () => {
  let mine: string;
  let other: string;
  beforeAll(async () => {
    mine = await projectIdOf(control);
    const made = await createAsker(control)('POST', '/projects', {
      as: control.accountAuthorization,
      body: { name: 'other' },
    });
    other = (made.body as { id: string }).id;
  });

  const startWith = (token: string, env: Record<string, string> = {}) =>
    start({
      command: process.execPath,
      args: [program, 'serve'],
      env: { SVC_URL: url(), SVC_API_TOKEN: token, ...env },
    });

  it('uses the project by default if the token reaches only one', async () => {
    const { token } = await memberWith([mine]);
    const { client, said } = await startWith(token);
    expect(said()).toContain('the token reaches 1 of the projects');
    const { tools } = await client.listTools();
    expect(tools.some(({ inputSchema }) => 'project_id' in (inputSchema.properties ?? {}))).toBe(
      false,
    );
    const project = await client.callTool({ name: 'describe_project' });
    expect(project.structuredContent).toMatchObject({ id: mine, mayWrite: true });
    await client.close();
  });

  it('lists the projects that the token reaches, and requires a project_id in each call', async () => {
    const { token } = await memberWith([mine, other]);
    const { client, said } = await startWith(token);
    expect(said()).toContain('the token reaches 2 of the projects');
    expect(said()).toContain(`${mine}  `);
    expect(said()).toContain(`${other}  other`);
    const { tools } = await client.listTools();
    expect(tools.every(({ inputSchema }) => inputSchema.required?.[0] === 'project_id')).toBe(true);
    const worldsOf = async (project_id: string) =>
      (await client.callTool({ name: 'list_worlds', arguments: { project_id } }))
        .structuredContent as { data: { slug: string }[] };
    expect((await worldsOf(mine)).data).toMatchObject([{ slug: 'notes' }]);
    expect((await worldsOf(other)).data).toEqual([]);
    const unnamed = await client.callTool({ name: 'list_worlds' });
    expect(unnamed.isError).toBe(true);
    expect(textOf(unnamed)).toContain(
      'the token reaches several projects: set "project_id" to one of',
    );
    await client.close();
  });

  it('checks before each call whether the token still reaches the project', async () => {
    const { token } = await memberWith([mine, other]);
    const { client } = await startWith(token, { SVC_PROJECT_ID: other });
    expect((await client.callTool({ name: 'list_worlds' })).isError).toBeUndefined();
    await control.sql('delete from project_memberships where project_id = $1', [other]);
    await until(
      async () => {
        // Between the check and the call, the service may refuse the call itself, which rejects.
        const [named] = await Promise.allSettled([client.callTool({ name: 'list_worlds' })]);
        return (
          named.status === 'fulfilled' &&
          named.value.isError === true &&
          textOf(named.value).includes(`the token does not reach the project "${other}"`)
        );
      },
      { timeoutMs: 10_000, everyMs: 200, what: 'the end of the right' },
    );
    await client.close();
  });

  it('reports that a token is not valid, and exits', async () => {
    const wrong = startWith(`pat_${'A'.repeat(43)}`);
    await expect(wrong).rejects.toThrow('the token is not valid');
  });
});

describe('svc worlds session mcp', () => {
  it('serves and calls the tools of the session', async () => {
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

  it('reports that there is no such session', async () => {
    const starting = start({
      command: process.execPath,
      args: [join(root, 'bin/svc.mjs'), 'worlds', 'session', 'mcp', 'ses-none'],
      env: documented('claude').env,
    });
    await expect(starting).rejects.toThrow('there is no session "ses-none"');
  });
});
