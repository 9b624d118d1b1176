/**
 * The kernel boundary of user code, below the checks of the languages. A Python with `ctypes` and a
 * Node without its permission model make raw system calls, behind the launcher that workers start
 * from. The kernel must refuse them, in a plain process and in bubblewrap;
 * `docker.test.ts` covers the container.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPython as findForSandbox } from '../../../orchestrator/driver/process/python.ts';
import { findSandbox, sandboxed } from '../../../orchestrator/driver/process/sandbox.ts';
import { packageRoot } from '../../../world-host-image/usercode/boundary/boundary.ts';
import { findPython } from '../../../world-host-image/usercode/python/python.ts';
import { outputOf } from '../../support/cli/commands.ts';
import {
  behind,
  expectHeld,
  languages,
  programs,
  type Report,
  type Targets,
} from '../../support/host/kernel-attacks.ts';

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
    // A program that a signal would kill and whose environment contains a secret, like a host's.
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

  /** Asserts that the attacks did not change the targeted file and process. */
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
      const root = join(import.meta.dirname, '../../..');
      const code = ['src', 'world-host-image', 'node_modules', 'package.json'];
      const path = process.env.PATH ?? '';
      const there = await findForSandbox(python, path);
      const sandbox = await findSandbox('auto', { root, code, python: there, path });
      if (sandbox.kind === 'none') return console.info(`not tried in bubblewrap: ${sandbox.says}`);
      // Inside, the first process is bubblewrap itself: the parent, with the same user.
      const program = programs(python, process.execPath, { ...targets, host: 1 })[language] ?? [];
      const readable = [`${prefix}/lib`, `${prefix}/lib64`];
      const launch = { python, packages: packageRoot, parent: 1, readable, program };
      expectHeld(await report(sandboxed(sandbox, [folder], behind(launch))));
      expectUnharmed();
    },
  );
});
