/**
 * Tests a release from end to end, on real processes. Two builds play 40 tasks each; the gate blocks one build and
 * passes the other. A script moves the label by the gate's exit status, and a rollback across a breaking change
 * requires force.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeCacheEnv } from '#runtime/code-cache.ts';
import * as api from '#wire/public-api/operations.ts';
import { call, close, createNotes, open } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';

const main = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
const planned = 40;
const atOnce = 4;

let database: TestDatabase;
let network: Network;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-gate-'));
  database = await testDatabase();
  network = await startNetwork({ databaseUrl: database.url, poolSize: atOnce });
  await createNotes(network.client);
  await network.warm(atOnce);
}, 120_000);
afterAll(async () => {
  await network.stop();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const toolOf = (name: string, required: string[]) => ({
  name,
  inputSchema: { type: 'object', properties: { id: { type: 'integer' } }, required },
});

/**
 * Registers a build of an agent; `required` names the required arguments of its tool. The tool of the second build
 * requires an argument that the tool of the first does not.
 */
const register = async (buildHash: string, commitSha: string, required: string[]) => {
  const manifest = { model: 'm', tools: [toolOf('look', required)] };
  const attribution = { commitSha, branch: 'main' };
  const body = { agentId: 'helper', buildHash, semanticVer: buildHash, manifest, attribution };
  return (await network.client.send(api.registerBuild, { body })).body;
};

/** Plays one session of a rollout group well or badly, grades it and closes it. */
const play = async (buildHash: string, playsWell: boolean): Promise<void> => {
  const { client } = network;
  const run = { id: `ci-${buildHash}`, buildHash, planned };
  const session = await open(client, { slug: 'notes', task: 'finish', run, reuseWarm: true });
  const input = { id: 99, folder_id: 1, title: 'done', done: playsWell };
  await call(client, session.id, { kind: 'tool', name: 'create_notes', input });
  const grade = await call(client, session.id, { kind: 'grade' });
  expect(grade.output).toMatchObject({ verdict: playsWell ? 'pass' : 'fail' });
  await close(client, session.id, true);
};

/**
 * Plays all sessions of a rollout group, several at once; the first `well` of them are played well.
 */
const playAll = async (buildHash: string, well: number): Promise<void> => {
  const turns = Array.from({ length: planned }, (_, turn) => turn).values();
  const player = async (): Promise<void> => {
    for (const turn of turns) await play(buildHash, turn < well);
  };
  await Promise.all(Array.from({ length: atOnce }, player));
};

/** Runs a script in which `svc` is the command; returns its status and output. */
const runScript = async (text: string): Promise<{ status: number | null; out: string }> => {
  const file = join(folder, 'script.sh');
  writeFileSync(file, `set -eu\nsvc() { "${process.execPath}" "${main}" "$@"; }\n${text}`);
  const { url: SVC_URL, publicKey: SVC_PUBLIC_KEY, secretKey: SVC_SECRET_KEY } = network;
  const keys = { SVC_URL, SVC_PUBLIC_KEY, SVC_SECRET_KEY };
  const env = { PATH: process.env.PATH ?? '', ...codeCacheEnv(), ...keys };
  const child = spawn('sh', [file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (out += piece));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, out };
};

const release = (commit: string, label = 'stable'): string =>
  `
svc release gate --commit ${commit} --wait 300 --json > gate.json
build=$(sed -n 's/^ *"id": "\\(bld-[^"]*\\)".*/\\1/p' gate.json | head -1)
svc release labels set "$build" ${label} --source ci --reason "passed the gate"
`.replaceAll('gate.json', join(folder, 'gate.json'));

const stableOf = async (): Promise<string> => {
  const query = { agentId: 'helper', label: 'stable' };
  return (await network.client.send(api.resolveBuild, { query })).body.buildHash;
};

describe('a release', () => {
  it('passes the gate when its build is good, and is rolled back across a breaking change only by force', async () => {
    const good = await register('good', '1111111aa', []);
    const worse = await register('worse', '2222222bb', ['id']);
    const untested = await runScript(release('2222222'));
    expect(untested).toMatchObject({ status: 2 });

    // The script waits while the tasks are played, like a pipeline that started them.
    await play('good', true);
    const waits = runScript(release('1111111'));
    const rest = Array.from({ length: planned - 1 }, (_, turn) => turn).values();
    const player = async (): Promise<void> => {
      for (const turn of rest) await play('good', turn < planned - 6);
    };
    await Promise.all(Array.from({ length: atOnce }, player));
    const passed = await waits;
    expect(passed.status, passed.out).toBe(0);
    expect(await stableOf()).toBe('good');

    await playAll('worse', 20);
    const blocked = await runScript(release('2222222'));
    expect(blocked.status, blocked.out).toBe(1);
    expect(await stableOf()).toBe('good');
    const { gate, comparedTo, evaluatedRuns } = (
      await network.client.send(api.getGate, { params: { buildId: worse.id } })
    ).body;
    expect(gate).toMatchObject({ verdict: 'blocked', passRate: 0.5, gradedRollouts: planned });
    expect(gate.reasons).toHaveLength(1);
    expect(comparedTo).toEqual({ stableBuildId: good.id, stableVersion: 'good' });
    expect(evaluatedRuns).toMatchObject([{ state: 'COMPLETED', graded: planned, passRate: 0.5 }]);

    // The label is moved to the worse build anyway; moving it back would break callers of its tool.
    const back = await runScript(`
      svc release labels set ${worse.id} stable --reason "in a hurry"
      svc release labels set ${good.id} stable || echo "refused with $?"
      svc release labels set ${good.id} stable --force --reason "it was worse"
    `);
    expect(back.status, back.out).toBe(0);
    expect(back.out).toMatch(/goes across a breaking change of "look"[\s\S]*refused with 1/);
    expect(await stableOf()).toBe('good');
  }, 240_000);
});
