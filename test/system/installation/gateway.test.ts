/**
 * A session on real processes behind a real gateway. Its address is the gateway's, the vendor's
 * client works with it, links of the world use it, and it answers with the end reason after the
 * session is closed.
 */
import { lookup } from 'node:dns';
import { Agent, request as openRequest } from 'node:http';
import { Octokit } from '@octokit/rest';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { close, open, readSession } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { gatewayDomain, gatewayEnv, readAnswer } from '../../support/gateway/gateway.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';
import { type Program, startProgram } from '../../support/programs/program.ts';

let database: TestDatabase;
let network: Network;
let gateway: Program;
let port: number;

beforeAll(async () => {
  database = await testDatabase();
  const { SVC_GATEWAY_URL = '', SVC_GATEWAY_TOKEN = '' } = gatewayEnv('');
  const env = { SVC_GATEWAY_URL, SVC_GATEWAY_TOKEN };
  network = await startNetwork({ databaseUrl: database.url, poolSize: 1, poolMax: 3, env });
  gateway = await startProgram('src/gateway/main.ts', gatewayEnv(network.internalUrl));
  port = Number(new URL(String((gateway.said.listening as string[])[0])).port);
  await network.client.send(createWorld, { body: { slug: 'code-hosting', from: 'code-hosting' } });
  await network.warm(1);
});

afterAll(async () => {
  await gateway.end('SIGTERM');
  await network.stop();
  await database.drop();
});

/** Resolves every name to the gateway, like a wildcard DNS record. */
const agent = new Agent({ lookup: (_, options, done) => lookup('127.0.0.1', options, done) });

/** Implementation of `fetch` for the vendor's client, whose requests all go through `agent` to the gateway. */
const fetchThere = async (url: string, init: RequestInit = {}): Promise<Response> => {
  const { hostname, pathname, search } = new URL(url);
  const answer = await new Promise<Awaited<ReturnType<typeof readAnswer>>>((resolve, reject) => {
    const headers = { ...(init.headers as Record<string, string>) };
    if (typeof init.body === 'string')
      headers['content-length'] = `${Buffer.byteLength(init.body)}`;
    openRequest({
      agent,
      hostname,
      port,
      path: pathname + search,
      method: init.method ?? 'GET',
      headers: { ...headers, host: hostname },
    })
      .on('response', (response) => resolve(readAnswer(response)))
      .on('error', reject)
      .end(init.body ?? undefined);
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) headers.set(name, String(value));
  const hasBody = ![204, 304].includes(answer.status);
  return new Response(hasBody ? answer.body : null, { status: answer.status, headers });
};

const clientOf = ({ surfaces }: SessionView): Octokit =>
  new Octokit({
    baseUrl: surfaces.api?.url ?? '',
    auth: surfaces.api?.token ?? '',
    request: { fetch: fetchThere },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });

const repository = { owner: 'northquay', repo: 'berth' };

it("the gateway serves a session to the vendor's client under its own address until it is closed", async () => {
  const session = await open(network.client, { slug: 'code-hosting' });
  expect(session.state, session.error?.message).toBe('READY');
  const origin = `http://${session.id}--api.${gatewayDomain}`;
  expect(session.surfaces.api?.url).toBe(origin);
  const { rest } = clientOf(session);

  const page = await rest.issues.listForRepo({ ...repository, per_page: 2 });
  expect(page.data).toHaveLength(2);
  expect(page.headers.link).toContain(`<${origin}/repos/northquay/berth/issues?`);
  const issue = { ...repository, issue_number: page.data[0]?.number ?? 0 };
  const made = await rest.issues.createComment({ ...issue, body: 'through the gateway' });
  expect(made.status).toBe(201);
  expect(made.headers.location).toBe(made.data.url);
  expect(made.data.url).toContain(`${origin}/repos/northquay/berth/issues/comments/`);
  const { data } = await rest.issues.listComments({ ...issue, per_page: 100 });
  expect(data.map(({ body }) => body)).toContain('through the gateway');

  const stranger = await fetchThere(`${origin}/user`, { headers: { authorization: 'Bearer no' } });
  expect(stranger.status).toBe(401);

  await close(network.client, session.id);
  const over = await until(
    async () => {
      const response = await fetchThere(`${origin}/user`);
      return response.status === 410 && (await response.json());
    },
    { timeoutMs: 10_000, what: 'the end of the route' },
  );
  expect(over).toMatchObject({ error: { code: 'closed', details: { endReason: 'requested' } } });
});

it('the gateway keeps serving while the control plane restarts, and learns of a close after that', async () => {
  await network.warm(1);
  const session = await open(network.client, { slug: 'code-hosting' });
  const { rest } = clientOf(session);
  await rest.repos.get(repository);
  await network.control.end('SIGKILL');
  for (let i = 0; i < 5; i += 1) expect((await rest.repos.get(repository)).status).toBe(200);
  await network.restartControl();
  await close(network.client, session.id);
  expect((await readSession(network.client, session.id)).state).toBe('CLOSED');
  await until(async () => (await fetchThere(`${session.surfaces.api?.url}/user`)).status === 410, {
    timeoutMs: 10_000,
    what: 'the end of the route',
  });
});
