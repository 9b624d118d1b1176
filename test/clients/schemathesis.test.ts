/**
 * What is served keeps to the OpenAPI document that describes it: schemathesis makes requests from the
 * document, right ones and wrong ones, and looks at the answers. Asked are a session of `code-hosting`,
 * whose paths are filled with owners and numbers that its rows have, and the control plane.
 *
 * Failures that are meant are listed in `schemathesis/accepted.json`, each with a reason. Any other fails
 * the test, as does a listed one that is no longer seen. The ordinary tests send few requests, the same
 * each time, and do not meet what is listed as rare. `make schemathesis` sends more, others for each seed.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { openApiOf } from '#language/openapi.ts';
import { basicAuthorization } from '#wire/client.ts';
import { openSession } from '#wire/public-api/operations.ts';
import { startNotesControl } from '../support/own-control.ts';
import { serveWorld } from '../support/serve-world.ts';
import { templateTree } from '../support/worlds.ts';
import { findPython, type Program } from './packages.ts';

const run = promisify(execFile);
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

const accepted = JSON.parse(await readFile(join(here, 'accepted.json'), 'utf8')) as Record<
  string,
  (Failure & { reason: string; rare?: true })[]
>;

const folder = await mkdtemp(join(tmpdir(), 'svc-schemathesis-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

type Target = { name: string; document: unknown; url: string; authorization: string };

/** Asks what a document describes. What was wrong comes with a text that says how to see it again. */
const ask = async ({ name, document, url, authorization }: Target) => {
  const { command, args, env } = program as Program;
  const at = join(folder, name);
  await writeFile(`${at}.json`, JSON.stringify(document));
  const amount = isLong
    ? ['--phases', 'coverage,fuzzing', '-n', `${examples}`, '--seed', `${seed}`]
    : ['--phases', 'fuzzing', '-n', '1', '--generation-deterministic'];
  const asked = [
    ['--config-file', join(here, `${name}.toml`), 'run', `${at}.json`, '-u', url],
    ['-H', `Authorization: ${authorization}`, ...amount, '--suppress-health-check', 'all'],
    ['--request-timeout', '60'],
    ['--no-color', '--continue-on-failure', '--report', 'json', '--report-dir', at],
  ];
  const options = { env, cwd: folder, maxBuffer: 64 * 1024 * 1024 };
  // Ends with another code than 0 when anything was wrong.
  const { stdout } = await run(command, [...args, ...asked.flat()], options).catch(
    (error: { stdout: string }) => error,
  );
  const [file] = await readdir(at).catch(() => []);
  if (file === undefined) throw new Error(stdout);
  const report = JSON.parse(await readFile(join(at, file), 'utf8')) as Report;
  return { report, said: stdout };
};

const keyOf = ({ operation, failure }: Failure): string => `${failure}: ${operation}`;

const failuresOf = ({ failures }: Report): string[] =>
  failures.flatMap(({ type, operations }) =>
    operations.map((operation) => keyOf({ operation, failure: type })),
  );

/** Holds what was seen to the list. */
const judge = (name: string, { report, said }: Awaited<ReturnType<typeof ask>>): void => {
  const listed = accepted[name] ?? [];
  const seen = failuresOf(report);
  const unlisted = seen.filter((one) => !listed.map(keyOf).includes(one));
  expect(report.errors, said).toEqual([]);
  expect(unlisted.sort(), said).toEqual([]);
  if (isLong) return;
  const unseen = listed.filter((one) => one.rare !== true && !seen.includes(keyOf(one)));
  expect(unseen).toEqual([]);
};

describe.skipIf('missing' in program)('the OpenAPI document', { timeout }, () => {
  it('of code-hosting says what a session answers', async () => {
    const world = await serveWorld(templateTree('code-hosting'));
    try {
      const document = openApiOf(world.contract, { serverUrl: world.url });
      const authorization = `Bearer ${world.token}`;
      judge(
        'code-hosting',
        await ask({ name: 'code-hosting', document, url: world.url, authorization }),
      );
    } finally {
      await world.stop();
    }
  });

  it('of the control plane says what it answers', async () => {
    const control = await startNotesControl();
    try {
      await control.send(openSession, { body: { slug: 'notes' } });
      const url = `${control.running.addresses.public[0]}/api/public`;
      const document = await (await fetch(`${url}/openapi.json`)).json();
      const authorization = basicAuthorization(control.publicKey, control.secretKey);
      judge('control', await ask({ name: 'control', document, url, authorization }));
    } finally {
      await control.stop();
    }
  });
});
