/** Tests `svc up` as a user runs it: real processes on a real folder, started, stopped, killed, restarted. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { type Ended, runSvc, type Svc, startSvc } from '#test/support/cli/svc.ts';
import { call, close, createNotes, open } from '#test/support/control/sessions.ts';
import { ask } from '#test/support/gateway/gateway.ts';
import { processesNaming, signalTo } from '#test/support/programs/processes.ts';
import { basicAuthorization, createClient } from '#wire/client.ts';
import { observePool } from '#wire/pool-api/operations.ts';
import { retrying } from '#wire/retry.ts';
import type { Credentials } from '../../../src/cli/service/connection.ts';
import type { Secrets } from '../../../src/cli/up/folder.ts';
import { portProblem } from '../../../src/cli/up/free-port.ts';

describe('svc up', () => {
  let root: string;
  let data: string;
  const running: Svc[] = [];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-up-'));
    data = join(root, 'data');
  });
  afterEach(async () => {
    for (const svc of running.splice(0)) {
      svc.signal('SIGTERM');
      await svc.ended();
    }
    for (const { pid } of leftOvers()) signalTo(pid, 'SIGKILL');
    rmSync(root, { recursive: true, force: true });
  });

  const installation = (): string =>
    (JSON.parse(readFileSync(join(data, 'secrets.json'), 'utf8')) as { installation: string })
      .installation;

  /** Returns every process of the installation, PostgreSQL included. */
  const leftOvers = () =>
    existsSync(join(data, 'secrets.json'))
      ? [...processesNaming(installation()), ...processesNaming(join(data, 'pg'))]
      : [];

  const upWords = () => [
    ...['up', '--data', data, '--port', '0'],
    ...['--runtime', 'process', '--pool', '1'],
  ];

  const up = async (...more: string[]): Promise<Svc> => {
    const svc = startSvc([...upWords(), ...more]);
    running.push(svc);
    await svc.prints('1 world host warm');
    return svc;
  };

  const interrupt = async (svc: Svc, signal: NodeJS.Signals = 'SIGINT') => {
    running.splice(running.indexOf(svc), 1);
    svc.signal(signal);
    return await svc.ended();
  };

  /**
   * Asserts an orderly stop: PostgreSQL closed its database, no program was killed, and no process
   * is left.
   */
  const expectOrderlyStop = ({ out }: Ended): void => {
    expect(out).not.toMatch(/killed|did not remove/);
    const log = readFileSync(join(data, 'logs', 'postgres.log'), 'utf8');
    expect(log).toMatch(/database system is shut down\n$/);
    expect(leftOvers()).toEqual([]);
  };

  const credentials = (): Credentials =>
    JSON.parse(readFileSync(join(data, 'credentials.json'), 'utf8')) as Credentials;

  const svc = (...words: string[]) => runSvc([...words, '--data', data]);
  const plainSvc = (...words: string[]) => runSvc(words);

  it('serves until Ctrl-C, keeps its data and keys, and leaves nothing running', async () => {
    const first = await up();
    const given = credentials();
    expect(statSync(join(data, 'credentials.json')).mode & 0o777).toBe(0o600);
    expect(statSync(join(data, 'secrets.json')).mode & 0o777).toBe(0o600);
    for (const value of [given.url, given.publicKey, given.secretKey]) {
      expect(first.out()).toContain(value);
    }
    // Commands find this key by themselves, and no program of the user needs it.
    expect(first.out()).not.toContain(given.organization?.secretKey);
    expect(first.out()).toContain('process (requested with --runtime)');
    expect(first.out()).toContain('does not isolate the network');
    expect((await fetch(`${given.url}/health`)).status).toBe(200);
    const created = await svc('worlds', 'create', 'mine', '--from', 'code-hosting');
    expect(created).toMatchObject({ status: 0 });
    expect(created.err).toMatch(/^(… creating mine .*\n)*$/); // Progress of slow steps goes to standard error.
    const opened = await svc('worlds', 'session', 'open', 'mine', '--json');
    expect(JSON.parse(opened.out)).toMatchObject({ state: 'READY' });

    const pools = await svc('admin', 'pools', '--json');
    expect(JSON.parse(pools.out)).toMatchObject({
      pools: [{ name: 'default' }, { name: 'browsers' }],
    });
    for (const path of ['/api/pool/view', '/api/host/hosts/hst-1/poll', '/api/admin/pools']) {
      expect((await fetch(`${given.url}${path}`)).status, path).toBe(404);
    }

    const end = await interrupt(first);
    expect(end.status).toBe(0);
    expect(end.out).toContain(
      'stopping; 1 open session ends with the service, as FAILED (reclaimed)\n',
    );
    expectOrderlyStop(end);
    expect(existsSync(join(data, 'up.lock'))).toBe(false);

    await up();
    expect(credentials()).toEqual(given);
    const listed = await svc('worlds', 'list', '--json');
    expect(JSON.parse(listed.out).data).toMatchObject([{ slug: 'mine' }]);
    const sessions = await svc('worlds', 'session', 'list', '--json');
    expect(JSON.parse(sessions.out).data).toMatchObject([
      { state: 'FAILED', endReason: 'reclaimed' },
    ]);
  });

  it('gives each session its own host behind a gateway, and stops the gateway, too, on SIGTERM', async () => {
    const running = await up('--gateway', '0');
    const [, domain] = /http:\/\/\{session\}--\{surface\}(\S+)/.exec(running.out()) ?? [];
    await svc('worlds', 'create', 'mine', '--from', 'code-hosting');
    const opened = await svc('worlds', 'session', 'open', 'mine', '--json');
    const { id, surfaces } = JSON.parse(opened.out);
    expect(surfaces.api.url).toBe(`http://${id}--api${domain}`);
    const { host, port } = new URL(surfaces.api.url);
    // Not every system resolves names below localhost, as browsers and curl do by themselves.
    const headers = { authorization: `Bearer ${surfaces.api.token}` };
    expect(await ask(Number(port), { host, path: '/user', headers })).toMatchObject({
      status: 200,
    });
    const end = await interrupt(running, 'SIGTERM');
    expect(end).toMatchObject({ status: 0 });
    expectOrderlyStop(end);
  });

  it('serves the metrics and status of each program on its own port, and stops on SIGHUP', async () => {
    const running = await up('--gateway', '0', '--metrics', '0');
    const [, line = ''] = /^metrics +(.+)$/m.exec(running.out()) ?? [];
    const texts = await Promise.all(line.split(' ').map(async (url) => (await fetch(url)).text()));
    const own = [
      'svc_database_up',
      'svc_orchestrator_leading',
      'svc_gateway_requests_total',
      'svc_sender_',
    ];
    expect(texts).toEqual(own.map((name) => expect.stringContaining(name)));
    const end = await interrupt(running, 'SIGHUP');
    expect(end).toMatchObject({ status: 0 });
    expectOrderlyStop(end);
  });

  it('names the ports that it uses, and refuses a second start on the same folder', async () => {
    const first = await up();
    const [, api] = /^ports +(\d+) API, /m.exec(first.out()) ?? [];
    expect(credentials().url).toBe(`http://127.0.0.1:${api}`);
    const named = [...(/^ports +(.*)$/m.exec(first.out())?.[1] ?? '').matchAll(/\d+/g)].map(Number);
    expect(named).toHaveLength(4);
    for (const port of named) {
      expect(port - Number(api)).toBeLessThan(10);
      expect(await portProblem(port), `port ${port}`).toBe('EADDRINUSE');
    }
    expect(named.toSorted((a, b) => a - b)).toEqual(named);

    const second = await runSvc(['up', '--data', data, '--port', '0']);
    expect(second.status).toBe(1);
    expect(second.err).toBe(
      `error: svc up already runs on ${data} (process ${first.pid}, ${credentials().url})\nhint: commands find the running service by themselves; stop it with Ctrl-C in its terminal, or start another with --data <folder> --port 0\n`,
    );
    expect((await fetch(`${credentials().url}/health`)).status).toBe(200);
  });

  it('reports that it is up once a host is warm', async () => {
    const service = startSvc(upWords());
    running.push(service);
    await service.prints('\nup after ');
    const { installation, poolToken, internalPort } = JSON.parse(
      readFileSync(join(data, 'secrets.json'), 'utf8'),
    ) as Secrets;
    const client = createClient({
      baseUrl: `http://127.0.0.1:${internalPort}/api/pool`,
      authorization: `Bearer ${poolToken}`,
    });
    const { body } = await client.send(observePool, { query: { installation } });
    expect(body.hosts.map(({ state }) => state)).toContain('warm');
  });

  it('serves worlds without code in Python on a machine without Python, and reports that Python is missing', async () => {
    const env = { SVC_PYTHON: join(root, 'no-python') };
    const service = startSvc(upWords(), env);
    running.push(service);
    await service.prints('1 world host warm');
    expect(service.out()).toMatch(
      /^no Python: .*cannot be run\. Sessions of worlds with Python code/,
    );
    const billing = join(root, 'billing');
    await plainSvc('worlds', 'schema', 'init', billing, '--api');
    expect(await svc('worlds', 'create', 'billing', '--from', billing)).toMatchObject({
      status: 0,
    });
    const proved = await svc('worlds', 'task', 'prove', 'billing', '-t', 'record-payment');
    expect(proved).toMatchObject({ status: 0, out: expect.stringContaining('proved: ') });
    await svc('worlds', 'create', 'code', '--from', 'code-hosting');
    const failed = await svc('worlds', 'session', 'open', 'code');
    expect(failed).toMatchObject({ status: 1 });
    expect(failed.err).toMatch(/\.py cannot run: this host has no Python 3\.11 or later/);
  });

  it('can be interrupted while it starts', async () => {
    const svc = startSvc(['up', '--data', data, '--port', '0', '--runtime', 'process']);
    await until(() => existsSync(join(data, 'pg')), { timeoutMs: 20_000, what: 'a database' });
    svc.signal('SIGINT');
    const end = await svc.ended();
    expect(end.status).toBe(130);
    expect(end.out).not.toContain('killed');
    expect(leftOvers()).toEqual([]);
  });

  it('applies changes of a file of pools, and reports whether each is accepted', async () => {
    const file = join(root, 'pools.toml');
    const whole = '[pools.first]\nmaximum = 2\nminimum = 1\n';
    writeFileSync(file, whole);
    const service = await up('--pools', file);
    writeFileSync(file, whole.replace('maximum', 'maxium'));
    await service.prints('(did you mean "maximum"?)');
    writeFileSync(file, whole.replace('first', 'second'));
    await service.prints('is applied; pools: second');
  });

  it('restarts a killed program, reports it, and sessions continue', async () => {
    const svc = await up();
    const { url, publicKey, secretKey } = credentials();
    const baseUrl = `${url}/api/public`;
    const plain = createClient({
      baseUrl,
      authorization: basicAuthorization(publicKey, secretKey),
    });
    const client = retrying(plain, { forMs: 15_000 });
    await createNotes(client);
    const session = await open(client, { slug: 'notes' });
    for (const part of ['control plane', 'orchestrator']) {
      const [program] = processesNaming(`svc ${part} ${installation()}`);
      process.kill(program?.pid as number, 'SIGKILL');
      await svc.prints(`the ${part} is up again`);
      const listed = await call(client, session.id, { kind: 'tool', name: 'list_notes' });
      expect(listed).toMatchObject({ state: 'succeeded', output: [{ id: 1 }] });
    }
    expect(await close(client, session.id)).toMatchObject({ endReason: 'requested' });
  });

  it('ends its children when it is killed, and the next start cleans up', async () => {
    const first = await up();
    const given = credentials();
    await interrupt(first, 'SIGKILL');
    const next = await up();
    expect(next.out()).toContain('the last svc up did not end properly; removing what it left');
    expect(credentials()).toEqual(given);
    expect((await fetch(`${given.url}/health`)).status).toBe(200);
    expect((await interrupt(next)).status).toBe(0);
    expect(leftOvers()).toEqual([]);
  });

  it('leaves no process behind when it is killed', async () => {
    const svc = await up();
    await interrupt(svc, 'SIGKILL');
    await until(() => leftOvers().length === 0, { timeoutMs: 10_000, what: 'all have ended' });
  });

  // One refusal before anything has started, and one after that; tests in `src/cli/up` cover the
  // others.
  describe('refuses with one line', () => {
    const refusal = async (words: string[], env?: Record<string, string>): Promise<string> => {
      const { status, err } = await runSvc(['up', ...words], env);
      expect(status).toBe(1);
      expect(err.split('\n').filter((line) => line.startsWith('error: '))).toHaveLength(1);
      return err;
    };

    it('a port that is taken', async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      const port = String((server.address() as { port: number }).port);
      expect(await refusal(['--data', data, '--port', port])).toBe(
        `error: port ${port} is taken\nhint: choose another port with --port <number>; 0 means any free one\n`,
      );
      await new Promise((resolve) => server.close(resolve));
    });

    it('a Docker engine that does not answer', async () => {
      const env = { DOCKER_HOST: 'unix:///nonexistent.sock' };
      const words = ['--data', data, '--port', '0', '--runtime', 'docker'];
      expect(await refusal(words, env)).toContain(
        'no Docker engine answers (unix:///nonexistent.sock: its socket does not exist)',
      );
      expect(leftOvers()).toEqual([]);
    });
  });
});
