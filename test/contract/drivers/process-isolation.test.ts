/**
 * Tests the isolation of a host process in bubblewrap. A program in place of the host attempts actions that must be
 * denied, and actions that are allowed. The allowed ones are the reason to run untrusted worlds in containers.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import type { Driver } from '../../../orchestrator/driver/driver.ts';
import { ProcessDriver } from '../../../orchestrator/driver/process/process-driver.ts';
import { findPython } from '../../../orchestrator/driver/process/python.ts';
import { findSandbox } from '../../../orchestrator/driver/process/sandbox.ts';
import { testPool } from '../../support/orchestrator/pools.ts';
import { newInstallation } from '../../support/orchestrator/runtimes.ts';
import { processesNaming } from '../../support/programs/processes.ts';

const root = join(import.meta.dirname, '../../..');
const path = process.env.PATH ?? '';
const sandbox = await findSandbox('auto', {
  root,
  code: ['src', 'world-host-image', 'node_modules', 'package.json'],
  python: await findPython('python3', path),
  path,
});
if (sandbox.kind === 'none') console.info(`the process sandbox is not tested: ${sandbox.says}`);

const startMs = 20_000;

/** Returns a program that prints the result or the error name of each attempt and then stays alive. */
const attempts = (targets: Record<string, string | number>): string => `
const fs = require('node:fs'), net = require('node:net'), { execFileSync, spawn } = require('node:child_process');
const at = ${JSON.stringify(targets)};
const said = {};
const attempt = (name, act) => { try { said[name] = act() ?? 'done' } catch (error) { said[name] = error.code ?? error.message } };
attempt('own folder', () => fs.writeFileSync(process.env.HOME + '/mine', 'x'));
attempt('scratch', () => fs.writeFileSync('/tmp/of-a-host', 'x'));
attempt('folders', () => fs.readdirSync(at.installation));
attempt('neighbour', () => fs.readFileSync(at.secret, 'utf8'));
attempt('processes', () => fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).length);
attempt('environment', () => fs.readFileSync('/proc/' + at.pid + '/environ', 'utf8'));
attempt('signal', () => process.kill(at.pid, 'SIGKILL'));
attempt('signal all', () => { try { process.kill(-1, 0) } catch (error) { if (error.code !== 'ESRCH') throw error } });
attempt('code', () => fs.writeFileSync(at.root + '/package.json', '{}'));
attempt('system', () => fs.writeFileSync('/usr/x', 'x'));
attempt('root', () => fs.mkdirSync('/x'));
attempt('tests', () => fs.readdirSync(at.root + '/test'));
attempt('history', () => fs.readdirSync(at.root + '/.git'));
attempt('passwords', () => fs.readFileSync('/etc/shadow', 'utf8'));
attempt('engine', () => fs.statSync('/var/run/docker.sock'));
attempt('namespace', () => { try { execFileSync('unshare', ['--user', '--net', 'true'], { stdio: 'pipe' }) } catch (error) { return 'refused' } });
attempt('mount', () => { try { execFileSync('mount', ['-t', 'tmpfs', 'x', '/tmp'], { stdio: 'pipe' }) } catch (error) { return 'refused' } });
said.status = fs.readFileSync('/proc/self/status', 'utf8');
said.environmentNames = Object.keys(process.env).sort();
spawn('sh', ['-c', 'sleep 1000; true', at.mark], { detached: true, stdio: 'ignore' }).unref();
net.connect(at.port, '127.0.0.1').on('connect', () => tell('open')).on('error', (error) => tell(error.code));
const tell = (loopback) => console.log(JSON.stringify({ ...said, loopback }));
setInterval(() => {}, 60_000);
`;

describe.skipIf(sandbox.kind === 'none')('a world host in bubblewrap', () => {
  const installation = newInstallation();
  const folder = join(tmpdir(), `svc-${installation}`);
  const neighbour = join(folder, 'hst-neighbour');
  const hostId = newId('hst');
  const mark = `of-${hostId}`;
  let other: Server;
  let driver: Driver;
  let group: number;
  let said: Record<string, unknown>;

  beforeAll(async () => {
    await mkdir(neighbour, { recursive: true, mode: 0o700 });
    await writeFile(join(neighbour, 'secret'), 'of another host');
    other = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
    await until(() => other.listening, { timeoutMs: startMs, what: 'a server to be reached' });
    const targets = {
      installation: folder,
      secret: join(neighbour, 'secret'),
      pid: process.pid,
      root,
      mark,
      port: (other.address() as AddressInfo).port,
    };
    driver = new ProcessDriver({
      installation,
      host: { controlUrl: 'http://127.0.0.1:1', logLevel: 'info' },
      python: 'python3',
      path,
      temporaryDir: tmpdir(),
      command: ['--eval', attempts(targets), '--'],
      browser: { command: [], chromium: undefined },
      release: 'of tests',
      sandbox,
    });
    const launched = await driver.launch({
      hostId,
      generation: 0,
      token: new Secret('token'),
      shape: testPool(),
    });
    group = Number(launched.runtimeId);
    const result = async () => /^\{.*\}$/m.exec(await driver.logs(hostId))?.[0];
    said = JSON.parse(await until(result, { timeoutMs: startMs, what: 'what came of it' }));
  }, 60_000);

  afterAll(async () => {
    await driver.destroy(hostId);
    await driver.dismantle();
    await rm('/tmp/of-a-host', { force: true });
    other.close();
  });

  it('can write to its own folder and to a scratch space of its own', async () => {
    expect(said).toMatchObject({ 'own folder': 'done', scratch: 'done' });
    expect(await readdir(join(folder, hostId))).toContain('mine');
    expect(await readdir('/tmp')).not.toContain('of-a-host');
  });

  it('cannot see the folders of other hosts', () => {
    expect(said).toMatchObject({ folders: [hostId], neighbour: 'ENOENT' });
  });

  it('sees only its own processes and cannot signal others', () => {
    expect(said.processes).toBeLessThan(5);
    expect(said).toMatchObject({ environment: 'ENOENT', signal: 'ESRCH' });
  });

  it('cannot write to its code or the system, nor read files that hosts do not need', () => {
    expect(said).toMatchObject({ code: 'EROFS', system: 'EROFS', root: 'EROFS' });
    expect(said).toMatchObject({ tests: 'ENOENT', history: 'ENOENT', passwords: 'ENOENT' });
    expect(said).toMatchObject({ engine: 'ENOENT' });
  });

  it('has a user of its own and no capabilities, and cannot gain any', () => {
    expect(said.status).toMatch(/^Uid:\s+10001\s+10001\s+10001\s+10001$/m);
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
      expect(said.status).toMatch(new RegExp(`^${set}:\\s+0+$`, 'm'));
    }
    expect(said.status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(said).toMatchObject({ namespace: 'refused', mount: 'refused' });
  });

  it('has only the environment variables that are meant for it', () => {
    expect(said.environmentNames).not.toContain('USER');
    expect(said.environmentNames).toContain('SVC_HOST_TOKEN_FILE');
    expect(said.environmentNames).not.toContain('SVC_HOST_TOKEN');
  });

  it('reaches the network of the machine, loopback included', () => {
    expect(said.loopback).toBe('open');
  });

  it('ends completely when its first process is killed, including processes that left its group', async () => {
    expect(processesNaming(mark).length).toBeGreaterThan(0);
    process.kill(group, 'SIGKILL');
    await until(() => processesNaming(mark).length === 0, {
      timeoutMs: startMs,
      what: 'the end of all its processes',
    });
    const listed = async () => (await driver.list()).find((found) => found.hostId === hostId);
    expect(
      await until(async () => ((await listed())?.exit ? listed() : undefined), {
        timeoutMs: startMs,
        what: 'the end of the host listed',
      }),
    ).toMatchObject({ phase: 'exited', exit: { detail: 'ended by SIGKILL' } });
  });
});

describe('the choice of a sandbox', () => {
  const visible = { root, code: [], python: undefined, path: '/nonexistent' };

  it('reports in one line what is not isolated if no sandbox is available', async () => {
    const python = { executable: '/nonexistent/python3', prefixes: [] };
    const found = await findSandbox('auto', { ...visible, python });
    expect(found.kind).toBe('none');
    expect(found.says).toMatch(/plain processes \(bubblewrap does not work here: .+\).+network/);
    expect(found.says).not.toContain('\n');
  });

  it.runIf(sandbox.kind === 'bubblewrap')('also isolates hosts if Python is missing', async () => {
    const found = await findSandbox('auto', { ...visible, path });
    expect(found).toMatchObject({ kind: 'bubblewrap', python: undefined });
  });

  it('fails if the requested sandbox is not available', async () => {
    await expect(findSandbox('bubblewrap', visible)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('SVC_PROCESS_SANDBOX=none'),
    });
  });
});
