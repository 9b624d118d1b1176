/**
 * The conformance suite of MCP against both servers: a session's, on the world in
 * `conformance/world` with the tools that the scenarios require, and a project's. The suite sends
 * no credentials, so a relay adds them and forwards the rest unchanged. `conformance/*.yml` list
 * the scenarios that do not apply, with the reason.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as openRequest, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import type { Row } from '#language/contract.ts';
import { basicAuthorization } from '#wire/client.ts';
import { createWorld, openSession } from '#wire/public-api/operations.ts';
import { type Answering, answerCalls } from '../../support/control/answering-host.ts';
import { warmHost } from '../../support/control/host.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { endServer, listenLocally } from '../../support/gateway/gateway.ts';
import { type ServedWorld, serveWorld } from '../../support/host/serve-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

const here = join(import.meta.dirname, 'conformance');
const suite = join(
  import.meta.dirname,
  '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
);

const treeOf = (folder: string): TreeFile[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return { path: file.slice(folder.length + 1), content: readFileSync(file) };
    });

/** Forwards requests to an address of the control plane and adds credentials. */
const startRelay = async (target: URL, authorization: string) => {
  const server = createServer((request, response) => {
    const headers = { ...request.headers, authorization };
    const { hostname, port, pathname } = target;
    const options = { hostname, port, path: pathname, method: request.method, headers };
    const outgoing = openRequest(options, (answer) => {
      // The suite tests several streams only with a session header; our server ignores that header.
      const named = { ...answer.headers, 'mcp-session-id': 'none-is-kept' };
      response.writeHead(answer.statusCode ?? 502, named);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    request.pipe(outgoing);
  });
  return { server, url: `http://localhost:${await listenLocally(server)}/mcp` };
};

let control: OwnControl;
let world: ServedWorld;
let answering: Answering;
let sessionId: string;
let token: string;
const relays: Server[] = [];

beforeAll(async () => {
  const tree = treeOf(join(here, 'world'));
  control = await startOwnControl();
  world = await serveWorld(tree);
  await control.send(createWorld, { body: { slug: 'conformance', from: encodeTree(tree) } });
  const host = await warmHost(control);
  const { body } = await control.send(openSession, { body: { slug: 'conformance' } });
  await host.poll();
  await host.ready();
  answering = answerCalls(host, ({ kind, name, input }) =>
    world.call(kind, name ?? undefined, input as Row),
  );
  ({ id: sessionId } = body);
  token = body.surfaces.mcp?.token ?? '';
});

afterAll(async () => {
  for (const server of relays) await endServer(server);
  await answering.stop();
  await world.stop();
  await control.stop();
});

/** Runs all scenarios; returns the output, and true if exactly the listed ones failed. */
const runSuite = async (url: string, list: string): Promise<{ passed: boolean; said: string }> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-conformance-'));
  const words = ['server', '--url', url, '--suite', 'all'];
  const expected = ['--expected-failures', join(here, list)];
  try {
    return await new Promise((resolve) => {
      execFile(
        process.execPath,
        [suite, ...words, ...expected],
        { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => resolve({ passed: error === null, said: stdout + stderr }),
      );
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const check = async (path: string, authorization: string, list: string): Promise<void> => {
  const base = control.running.addresses.public[0];
  const relay = await startRelay(new URL(`${base}${path}`), authorization);
  relays.push(relay.server);
  const { passed, said } = await runSuite(relay.url, list);
  expect(passed, said).toBe(true);
  expect(said).toContain('dns-rebinding-protection');
};

it('the server of a session passes the scenarios that apply', async () => {
  await check(`/api/public/world-sessions/${sessionId}/mcp`, `Bearer ${token}`, 'session.yml');
}, 300_000);

it('the server of a project passes the scenarios that apply', async () => {
  const pair = basicAuthorization(control.publicKey, control.secretKey);
  await check('/api/public/mcp', pair, 'service.yml');
}, 300_000);
