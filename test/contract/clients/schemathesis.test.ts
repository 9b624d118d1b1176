/**
 * Services match the OpenAPI documents that describe them. Schemathesis derives valid and invalid
 * requests from a document and checks the answers. The targets are the control plane and sessions
 * of the templates, whose paths are filled with names and numbers of their rows.
 *
 * `schemathesis/accepted.json` lists the accepted failures, each with a reason. Any other failure
 * fails the test, and so does a listed one that no longer occurs. The ordinary tests send few
 * requests, the same each time, and do not reach the failures listed as rare. `make schemathesis`
 * sends more requests, different for each seed.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Octokit } from '@octokit/rest';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { openApiOf } from '#language/openapi/openapi.ts';
import { basicAuthorization } from '#wire/client.ts';
import { enqueueCall, openSession } from '#wire/public-api/operations.ts';
import { startNotesControl } from '../../support/control/own-control.ts';
import { type ServedWorld, serveWorld } from '../../support/host/serve-world.ts';
import { templateTree } from '../../support/worlds/worlds.ts';
import { findPython, type Program } from './packages.ts';

const run = promisify(execFile);
const repository = { owner: 'northquay', repo: 'berth' };
const { examples, seed } = inject('schemathesis');
const isLong = examples > 0;
const here = join(import.meta.dirname, 'schemathesis');
const main = 'from schemathesis.cli import schemathesis; schemathesis()';
const program = await findPython('-c', main);
const timeout = isLong ? 3_600_000 : 240_000;

type Failure = { operation: string; failure: string };
type Report = {
  failures: { type: string; operations: string[] }[];
  errors: unknown[];
  test_cases: { generated?: number };
};
type Archive = { log: { entries: { request: { url: string }; response: { status: number } }[] } };

const accepted = JSON.parse(await readFile(join(here, 'accepted.json'), 'utf8')) as Record<
  string,
  (Failure & { reason: string; rare?: true })[]
>;

const folder = await mkdtemp(join(tmpdir(), 'svc-schemathesis-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Path segment before the name of each object that the test creates. */
const folders = {
  session: 'world-sessions',
  call: 'calls',
  hook: 'hooks',
  spare_hook: 'hooks',
  delivery: 'deliveries',
  invitation: 'invitations',
  spare_invitation: 'invitations',
  file_sha: 'blobs',
  folder: 'readme',
};

type Target = {
  name: string;
  document: unknown;
  url: string;
  authorization: string;
  /**
   * Objects that the test created beforehand: the value of an argument, by the name of its
   * dictionary.
   */
  made: Partial<Record<keyof typeof folders, string>>;
};

/** Writes the settings of a target, with dictionaries for its created objects. */
const configure = async (name: string, made: Target['made']): Promise<string> => {
  const lines = Object.entries(made).map(
    ([dictionary, value]) => `${dictionary} = { values = ["${value}"] }`,
  );
  const settings = await readFile(join(here, `${name}.toml`), 'utf8');
  const file = join(folder, `${name}.toml`);
  await writeFile(
    file,
    settings.replace('[dictionaries]\n', `[dictionaries]\n${lines.join('\n')}\n`),
  );
  return file;
};

/** Runs schemathesis on a document. Failures come with a text that says how to reproduce them. */
const ask = async ({ name, document, url, authorization, made }: Target) => {
  const { command, args, env } = program as Program;
  const at = join(folder, name);
  await writeFile(`${at}.json`, JSON.stringify(document));
  const amount = isLong
    ? ['--phases', 'coverage,fuzzing', '-n', `${examples}`, '--seed', `${seed}`]
    : ['--phases', 'fuzzing', '-n', '1', '--generation-deterministic'];
  const asked = [
    ['--config-file', await configure(name, made), 'run', `${at}.json`, '-u', url],
    ['-H', `Authorization: ${authorization}`, ...amount, '--suppress-health-check', 'all'],
    ['--request-timeout', '60'],
    [
      '--no-color',
      '--continue-on-failure',
      '--report',
      isLong ? 'json' : 'json,har',
      '--report-dir',
      at,
    ],
  ];
  const options = { env, cwd: folder, maxBuffer: 64 * 1024 * 1024 };
  // Exits with a code other than 0 if there are failures.
  const { stdout } = await run(command, [...args, ...asked.flat()], options).catch(
    (error: { stdout: string }) => error,
  );
  const files = await readdir(at).catch(() => []);
  const read = async (kind: string): Promise<unknown> => {
    const file = files.find((one) => one.startsWith(`${kind}-`));
    if (file === undefined) throw new Error(stdout);
    return JSON.parse(await readFile(join(at, file), 'utf8'));
  };
  const report = (await read('json')) as Report;
  const exchanges = isLong ? [] : ((await read('har')) as Archive).log.entries;
  const reached = exchanges.filter(({ response }) => response.status < 300);
  return { report, said: stdout, reached: reached.map(({ request }) => request.url) };
};

const keyOf = ({ operation, failure }: Failure): string => `${failure}: ${operation}`;

const failuresOf = ({ failures }: Report): string[] =>
  failures.flatMap(({ type, operations }) =>
    operations.map((operation) => keyOf({ operation, failure: type })),
  );

/** Compares the failures with the accepted ones. */
const judge = async (target: Target): Promise<void> => {
  const { name, made } = target;
  const { report, said, reached } = await ask(target);
  const listed = accepted[name] ?? [];
  const seen = failuresOf(report);
  const unlisted = seen.filter((one) => !listed.map(keyOf).includes(one));
  expect(report.errors, said).toEqual([]);
  expect(unlisted.sort(), said).toEqual([]);
  if (isLong) return;
  const unseen = listed.filter((one) => one.rare !== true && !seen.includes(keyOf(one)));
  expect(unseen).toEqual([]);
  const paths = Object.entries(made).map(
    ([kind, value]) => `/${folders[kind as keyof typeof folders]}/${value}`,
  );
  expect(paths.filter((path) => !reached.some((url) => url.includes(path)))).toEqual([]);
};

/**
 * Creates objects that no initial row of `code-hosting` provides, and spare objects of the kinds that the run deletes.
 */
const makeMissing = async ({ url, token }: ServedWorld): Promise<Target['made']> => {
  const { rest } = new Octokit({ baseUrl: url, auth: token });
  const hookAt = async (address: string) => {
    const config = { url: address, secret: 's3' };
    const { data } = await rest.repos.createWebhook({ ...repository, config });
    return data.id;
  };
  const invite = async (username: string) => {
    const { data } = await rest.repos.addCollaborator({ ...repository, username });
    return `${data.id}`;
  };
  const hook = await hookAt('https://hooks.example/kept');
  const { data } = await rest.repos.listWebhookDeliveries({ ...repository, hook_id: hook });
  const file = { path: 'docs/README.md', message: 'Begin', content: 'IyBEb2NzCg==' };
  const written = await rest.repos.createOrUpdateFileContents({ ...repository, ...file });
  return {
    hook: `${hook}`,
    spare_hook: `${await hookAt('https://hooks.example/spare')}`,
    delivery: `${data[0]?.id}`,
    invitation: await invite('mikkelh'),
    spare_invitation: await invite('cdubois-stmalo'),
    file_sha: `${written.data.content?.sha}`,
    folder: 'docs',
  };
};

describe.skipIf('missing' in program)('the OpenAPI document', { timeout }, () => {
  it('of code-hosting matches the answers of a session', async () => {
    const world = await serveWorld(templateTree('code-hosting'));
    try {
      const document = openApiOf(world.contract, { serverUrl: world.url });
      const authorization = `Bearer ${world.token}`;
      const name = 'code-hosting';
      const made = await makeMissing(world);
      await judge({ name, document, url: world.url, authorization, made });
    } finally {
      await world.stop();
    }
  });

  it('of issue-tracking matches the answers of a session', async () => {
    const world = await serveWorld(templateTree('issue-tracking'));
    try {
      const document = openApiOf(world.contract, { serverUrl: world.url });
      const authorization = basicAuthorization('quay-triage@northquay.example', world.token);
      await judge({ name: 'issue-tracking', document, url: world.url, authorization, made: {} });
    } finally {
      await world.stop();
    }
  });

  it('of device-management matches the answers of a session', async () => {
    const world = await serveWorld(templateTree('device-management'));
    try {
      const document = openApiOf(world.contract, { serverUrl: world.url });
      const authorization = `Bearer ${world.token}`;
      await judge({ name: 'device-management', document, url: world.url, authorization, made: {} });
    } finally {
      await world.stop();
    }
  });

  it('of the control plane matches its answers', async () => {
    const control = await startNotesControl();
    try {
      const session = await control.send(openSession, { body: { slug: 'notes' } });
      const params = { sessionId: session.body.id };
      const call = await control.send(enqueueCall, { params, body: { kind: 'state' }, query: {} });
      const made = { session: params.sessionId, call: call.body.id };
      const url = `${control.running.addresses.public[0]}/api/public`;
      const document = await (await fetch(`${url}/openapi.json`)).json();
      const authorization = basicAuthorization(control.publicKey, control.secretKey);
      await judge({ name: 'control', document, url, authorization, made });
    } finally {
      await control.stop();
    }
  });
});
