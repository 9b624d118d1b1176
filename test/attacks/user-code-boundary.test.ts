/**
 * The boundary of user code itself, below what the languages refuse: machine-level attempts of a Python
 * with `ctypes` and of a Node without its permission model, behind the launcher that workers start from.
 * The kernel has to answer them, as a plain process, in bubblewrap, and in the container of a host.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import type { Driver } from '../../orchestrator/driver/driver.ts';
import { findSandbox, sandboxed } from '../../orchestrator/driver/process/sandbox.ts';
import { packageRoot } from '../../world-host-image/usercode/boundary.ts';
import { findPython } from '../../world-host-image/usercode/python.ts';
import { outputOf } from '../support/commands.ts';
import { type HostApi, startHostApi } from '../support/host-api.ts';
import {
  behind,
  behindInContainer,
  expectHeld,
  languages,
  programs,
  type Report,
  type Targets,
} from '../support/kernel-attacks.ts';
import { testPool } from '../support/pools.ts';
import { dockerAnswers } from '../support/prepare-docker.ts';
import {
  docker,
  driverOf,
  newInstallation,
  prepareQuietly,
  runtimes,
} from '../support/runtimes.ts';

const isLinux = process.platform === 'linux';
if (!isLinux) console.info('the boundary of user code is not attacked: this is no Linux');

describe.skipIf(!isLinux)('behind the boundary of user code', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-boundary-'));
  const targets: Targets = {
    host: 0,
    secret: join(folder, 'secret'),
    folder,
    abstract: `svc-${folder.split('/').at(-1)}`,
    socket: join(folder, 'socket'),
  };
  const listening: Server[] = [];
  let neighbour: ChildProcess;
  let python: string;
  let prefix: string;

  beforeAll(async () => {
    python = await findPython('python3', process.env.PATH);
    const where = ['-c', 'import sys; print(sys.executable, sys.base_prefix)'];
    [python = '', prefix = ''] = (await outputOf(python, where)).trim().split(' ');
    writeFileSync(targets.secret, 'secret');
    // A program that a signal would end and whose environment holds a secret, as a host's does.
    neighbour = spawn('sleep', ['1000'], { env: { ...process.env, SVC_HOST_TOKEN: 'secret' } });
    targets.host = Number(neighbour.pid);
    for (const address of [`\0${targets.abstract}`, targets.socket]) {
      const server = createServer().listen(address);
      await once(server, 'listening');
      listening.push(server);
    }
  });

  afterAll(() => {
    neighbour.kill('SIGKILL');
    for (const server of listening) server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const report = async ([command = '', ...words]: string[]): Promise<Report> =>
    JSON.parse(await outputOf(command, words)) as Report;

  /** Nothing came of the attempts on the file and the process that they were aimed at. */
  const expectUnharmed = (): void => {
    expect(readFileSync(targets.secret, 'utf8')).toBe('secret');
    expect([neighbour.exitCode, neighbour.signalCode]).toEqual([null, null]);
    expect(readFileSync(`/proc/${targets.host}/oom_score_adj`, 'utf8').trim()).not.toBe('1000');
  };

  it.each(languages)('a plain process in %s can compute and nothing else', async (language) => {
    const program = programs(python, process.execPath, targets)[language] ?? [];
    const readable = [`${prefix}/lib`, `${prefix}/lib64`];
    const launch = { python, packages: packageRoot, parent: process.pid, readable, program };
    expectHeld(await report(behind(launch)));
    expectUnharmed();
  });

  it.each(languages)(
    'a process in bubblewrap in %s can compute and nothing else',
    async (language) => {
      const root = join(import.meta.dirname, '../..');
      const code = ['src', 'world-host-image', 'node_modules', 'package.json'];
      const path = process.env.PATH ?? '';
      const sandbox = await findSandbox('auto', { root, code, python, path });
      if (sandbox.kind === 'none') return console.info(`not tried in bubblewrap: ${sandbox.says}`);
      // Within, the first process is bubblewrap's own: the parent, and of the same user.
      const program = programs(python, process.execPath, { ...targets, host: 1 })[language] ?? [];
      const readable = [`${prefix}/lib`, `${prefix}/lib64`];
      const launch = { python, packages: packageRoot, parent: 1, readable, program };
      expectHeld(await report(sandboxed(sandbox, [folder], behind(launch))));
      expectUnharmed();
    },
  );
});

const hasDocker = await dockerAnswers();
if (!hasDocker) console.info('user code on Docker is not tested: no Docker engine answers');

describe.skipIf(!hasDocker)('in the container of a host', () => {
  const installation = newInstallation();
  const hostId = newId('hst');
  const folder = '/tmp/attacked';
  let control: HostApi;
  let driver: Driver;
  let host: number;

  const inside = (...command: string[]): Promise<string> =>
    docker('exec', `svc-${hostId}`, ...command);
  const shell = (script: string): Promise<string> => inside('sh', '-c', script);

  beforeAll(async () => {
    const first = await driverOf(runtimes.docker, installation, 'http://127.0.0.1:1');
    const { listen, host: machine, image } = await prepareQuietly(first);
    control = await startHostApi(['127.0.0.1', ...(listen === null ? [] : [listen])]);
    const controlUrl = `http://${machine}:${control.port}`;
    driver = await driverOf(runtimes.docker, installation, controlUrl, image);
    const shape = testPool({ isolation: 'container' });
    await driver.launch({ hostId, generation: 0, token: new Secret('token'), shape });
    await until(() => control.warm.has(hostId), { timeoutMs: 20_000, what: `${hostId} warm` });
    host = Number(await shell('cat /proc/1/task/1/children'));
    await shell(`mkdir ${folder} && echo secret >${folder}/secret`);
  }, 300_000);

  afterAll(async () => {
    await driver.destroy(hostId);
    await driver.dismantle();
    await control.close();
  });

  it.each(languages)('code in %s can compute and nothing else', async (language) => {
    const secret = `${folder}/secret`;
    const targets = { host, secret, folder, abstract: 'nobody', socket: `${folder}/socket` };
    const program = programs('/usr/bin/python3', '/usr/local/bin/node', targets)[language] ?? [];
    const packages = '/opt/svc/world-host-image/usercode';
    const launch = { python: 'python3', packages, readable: [], program };
    expectHeld(JSON.parse(await inside(...behindInContainer(launch))) as Report);
    expect(await shell(`cat ${secret}; ls ${folder}`)).toBe('secret\nsecret');
  });

  it('the worker of a warm host is behind the whole boundary, and the host itself is not', async () => {
    const children = `cat /proc/${host}/task/*/children`;
    const lines = async (pids: string, name: string): Promise<string[]> =>
      (await shell(`for pid in ${pids}; do grep -h ${name}: /proc/$pid/status; done`))
        .split('\n')
        .map((line) => line.split('\t').at(-1) ?? '');
    expect(await lines(`$(${children})`, 'NoNewPrivs')).toEqual(['1']);
    // A worker has one filter more than its host, which has the engine's.
    const [own] = await lines(String(host), 'Seccomp_filters');
    const theirs = await lines(`$(${children})`, 'Seccomp_filters');
    expect(theirs.map(Number)).toEqual([Number(own) + 1]);
    const scores = await shell(`for pid in $(${children}); do cat /proc/$pid/oom_score_adj; done`);
    expect(scores).toBe('1000');
  });

  it('no signal opens a debugger in a host', async () => {
    await shell(`kill -USR1 ${host}`);
    await shell('sleep 0.2');
    // 9229 in the table of TCP sockets.
    expect(await shell('cat /proc/net/tcp /proc/net/tcp6')).not.toMatch(/:240D /);
    expect(await shell(`kill -0 ${host} && echo alive`)).toBe('alive');
  });
});
