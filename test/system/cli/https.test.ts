/** Tests `svc up --tls` with clients in several languages: real processes, each with its own list of authorities. */
import { createHash, createHmac, X509Certificate } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPython } from '#test/contract/clients/packages.ts';
import { chromiumPath } from '#test/support/browser/chromium.ts';
import { runSvc, type Svc, startSvc } from '#test/support/cli/svc.ts';
import { localNames, runClient } from '#test/support/programs/https-clients.ts';
import { startReceiver } from '#test/support/webhooks/receiver.ts';
import type { Credentials } from '../../../src/cli/service/connection.ts';
import { visit } from '../../support/browser/visit.ts';

const repo = fileURLToPath(new URL('../../../', import.meta.url));
type ServiceInfo = { url: string; surfaces: string; caFile: string; caBundleFile: string };
type Session = {
  id: string;
  surfaces: Record<
    'api' | 'mcp' | 'ui' | 'browser',
    { url: string; token: string; cdpUrl: string }
  >;
};

describe('svc up --tls', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-https-'));
  const data = join(home, '.svc');
  const env = { SVC_DATA: data };
  const words = ['up', '--data', data, '--port', '0', '--gateway', '0', '--runtime', 'process'];
  let up: Svc;
  let info: ServiceInfo;
  let session: Session;

  const svc = async (...line: string[]): Promise<string> => {
    const ran = await runSvc(line, env);
    expect(ran.status, ran.out + ran.err).toBe(0);
    return ran.out;
  };

  beforeAll(async () => {
    up = startSvc([...words, '--pool', '1', '--tls', '--json']);
    await up.prints('\n}\n');
    info = JSON.parse(up.out()) as ServiceInfo;
    await svc('worlds', 'create', 'code-hosting', '--from', 'code-hosting');
    const open = ['worlds', 'session', 'open', 'code-hosting', '--surface', 'browser', '--json'];
    session = JSON.parse(await svc(...open)) as Session;
  });
  afterAll(async () => {
    up.signal('SIGTERM');
    await up.ended();
    rmSync(home, { recursive: true, force: true });
  });

  it('gives https addresses for the service and for sessions, and protects its key', () => {
    expect(info.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(info.surfaces).toMatch(/^https:\/\/\{session\}--\{surface\}\.localhost:\d+$/);
    const { api, mcp, ui, browser } = session.surfaces;
    for (const { url } of [api, mcp, ui, browser]) expect(url).toMatch(/^https:/);
    expect(browser.cdpUrl).toMatch(/^wss:/);
    expect(statSync(join(data, 'tls/authority.key')).mode & 0o777).toBe(0o600);
    const { url, caFile } = JSON.parse(
      readFileSync(join(data, 'credentials.json'), 'utf8'),
    ) as Credentials;
    expect({ url, caFile }).toEqual({ url: info.url, caFile: info.caFile });
  });

  it('passes its own doctor, which checks the certificate', async () => {
    const said = await svc('admin', 'doctor');
    expect(said).toMatch(/✓ +addresses +the certificate of 127\.0\.0\.1 is good for (29|30) days/);
  });

  it('is trusted by curl, Node, Python and Go after the commands of the docs page', async () => {
    const found = await findPython();
    const python = 'missing' in found ? process.env : found.env;
    const page = readFileSync(join(repo, 'docs/use/https.md'), 'utf8');
    const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? '');
    expect(blocks).toHaveLength(6);
    const commands = blocks.join('\n').replaceAll('https://127.0.0.1:4500', info.url);
    const bin = join(home, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'node'), `#!/bin/sh\nexec "${process.execPath}" "$@"\n`);
    chmodSync(join(bin, 'node'), 0o755);
    const path = `${bin}:${process.env.PATH}:/usr/local/go/bin`;
    const ran = await runClient('sh', ['-eu'], {
      cwd: home,
      env: { ...python, PATH: path },
      input: commands,
    });
    expect(ran.status, ran.out + ran.err).toBe(0);
    expect(ran.out.match(/"status": ?"ok"/g), ran.out).toHaveLength(5);
  });

  it('is refused by clients that do not trust the authority, and names the https address over HTTP', async () => {
    const strange = await runClient('curl', ['-sS', `${info.url}/health`]);
    expect([strange.status, strange.err]).toEqual([60, expect.stringContaining('certificate')]);
    const script = 'fetch(process.argv[1]).catch((error) => console.log(error.cause.code))';
    const node = await runClient(process.execPath, ['-e', script, `${info.url}/health`]);
    expect(node.out).toMatch(/SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO/);
    const plain = await fetch(`${info.url.replace('https', 'http')}/health`);
    expect([plain.status, await plain.json()]).toEqual([
      400,
      { message: `this port serves https only: use ${info.url}`, error: 'invalid' },
    ]);
  });

  it('serves a session to the vendor’s own client, unmodified', async () => {
    const { url, token } = session.surfaces.api;
    const script = `
      import { Octokit } from '@octokit/rest';
      const octokit = new Octokit({ baseUrl: process.env.api, auth: process.env.token });
      const repo = { owner: 'northquay', repo: 'berth' };
      const { data } = await octokit.rest.issues.create({ ...repo, title: 'over https' });
      const all = await octokit.paginate(octokit.rest.issues.listForRepo, { ...repo, per_page: 10 });
      console.log(JSON.stringify({ url: data.url, has: all.some(({ number }) => number === data.number) }));`;
    const ran = await runClient(
      process.execPath,
      ['--import', localNames, '--input-type=module', '-e', script],
      {
        cwd: repo,
        env: { ...process.env, NODE_EXTRA_CA_CERTS: info.caFile, api: url, token },
      },
    );
    expect(ran.status, ran.err).toBe(0);
    expect(JSON.parse(ran.out)).toEqual({
      url: expect.stringContaining(`${url}/repos/`),
      has: true,
    });
  });

  it('serves MCP, streams and tools of a session to the CLI, which trusts the authority automatically', async () => {
    const call = ['worlds', 'session', 'call', session.id, 'list_repositories', '--json'];
    expect(await svc(...call)).toContain('northquay');
    const init = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 't', version: '1' },
      },
    };
    const main = join(repo, 'src/cli/main.ts');
    const relayed = await runClient(
      process.execPath,
      [main, 'worlds', 'session', 'mcp', session.id],
      {
        env: { ...process.env, ...env },
        input: `${JSON.stringify(init)}\n`,
      },
    );
    expect(JSON.parse(relayed.out.split('\n')[0] ?? '')).toMatchObject({ id: 1, result: {} });
    const { url, token } = session.surfaces.mcp;
    const headers = [
      `authorization: Bearer ${token}`,
      'accept: application/json, text/event-stream',
    ];
    const direct = await runClient('curl', [
      ...['-sS', '--fail', '--cacert', info.caFile, url, '--json', JSON.stringify(init)],
      ...headers.flatMap((header) => ['-H', header]),
    ]);
    expect(direct.out, direct.err).toContain('"serverInfo"');
  });

  it('forwards webhooks of a session to a receiver with their signatures unchanged', async () => {
    const receiver = await startReceiver();
    const { url, token } = session.surfaces.api;
    const post = async (path: string, body: object): Promise<void> => {
      const said = await runClient('curl', [
        ...['-sS', '--fail', '--cacert', info.caFile, url + path, '--json', JSON.stringify(body)],
        ...['-H', `authorization: Bearer ${token}`],
      ]);
      expect(said.status, said.err).toBe(0);
    };
    const config = { url: receiver.url, secret: 's3cret', content_type: 'json' };
    await post('/repos/northquay/berth/hooks', { name: 'web', config, events: ['issues'] });
    await post('/repos/northquay/berth/issues', { title: 'created over https' });
    const listen = ['worlds', 'session', 'listen', session.id, '--once', '--forward-to'];
    expect(await svc(...listen, receiver.url)).toMatch(/issues .*204 in/);
    const sent = receiver.received.find(({ headers }) => headers['x-github-event'] === 'issues');
    const digest = createHmac('sha256', 's3cret')
      .update(sent?.body ?? '')
      .digest('hex');
    expect(sent?.headers['x-hub-signature-256']).toBe(`sha256=${digest}`);
    await receiver.leave();
  });

  it('admits a browser once by a link, with a Secure cookie, and shows the live view', async () => {
    const certificate = new X509Certificate(readFileSync(info.caFile));
    const key = certificate.publicKey.export({ type: 'spki', format: 'der' });
    const digest = createHash('sha256').update(key).digest('base64');
    const start = (...args: string[]) =>
      chromium.launch({
        executablePath: chromiumPath(),
        args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), ...args],
      });
    const strange = await start();
    const page = await strange.newPage();
    await expect(visit(page, session.surfaces.ui.url)).rejects.toThrow(
      'ERR_CERT_AUTHORITY_INVALID',
    );
    await strange.close();
    const browser = await start(`--ignore-certificate-errors-spki-list=${digest}`);
    const context = await browser.newContext();
    const person = await context.newPage();
    const link = (await svc('worlds', 'session', 'link', session.id)).trim();
    await visit(person, link);
    await person.getByRole('heading', { name: 'Repositories' }).waitFor();
    const cookies = await context.cookies();
    expect(cookies.length).toBeGreaterThan(0);
    expect(cookies.filter(({ secure }) => !secure)).toEqual([]);
    const view = (
      await svc('worlds', 'session', 'link', session.id, '--surface', 'browser')
    ).trim();
    const sockets: string[] = [];
    person.on('websocket', (socket) => sockets.push(socket.url()));
    await visit(person, view);
    await expect.poll(() => sockets, { timeout: 30_000 }).toEqual([expect.stringMatching(/^wss:/)]);
    await browser.close();
  });

  it('is trusted by a browser whose user has imported the authority by the command of the docs page', async () => {
    const page = readFileSync(join(repo, 'docs/use/https.md'), 'utf8');
    const [, command = ''] = /`(mkdir [^`]*certutil [^`]+)`/.exec(page) ?? [];
    const user = join(home, 'user');
    const env = { ...process.env, HOME: user };
    const imported = await runClient('sh', ['-euc', command], { cwd: dirname(info.caFile), env });
    expect(imported.status, imported.err).toBe(0);
    const context = await chromium.launchPersistentContext(join(user, 'profile'), {
      executablePath: chromiumPath(),
      env,
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    });
    const person = await context.newPage();
    const answer = await visit(person, (await svc('worlds', 'session', 'link', session.id)).trim());
    expect(await answer?.securityDetails()).toMatchObject({ protocol: 'TLS 1.3' });
    await person.getByRole('heading', { name: 'Repositories' }).waitFor();
    await context.close();
  });

  it('gives the session its own browser, driven over wss', async () => {
    const { cdpUrl, token } = session.surfaces.browser;
    const script = `
      import { chromium } from 'playwright-core';
      const headers = { authorization: 'Bearer ' + process.env.token };
      const browser = await chromium.connectOverCDP(process.env.cdp, { headers });
      const page = browser.contexts()[0].pages()[0];
      await page.getByRole('heading', { name: 'Repositories' }).waitFor();
      console.log(page.url());
      process.exit(0);`;
    const ran = await runClient(
      process.execPath,
      ['--import', localNames, '--input-type=module', '-e', script],
      { cwd: repo, env: { ...process.env, NODE_EXTRA_CA_CERTS: info.caFile, cdp: cdpUrl, token } },
    );
    expect(ran.status, ran.err).toBe(0);
    expect(ran.out).toContain(session.surfaces.ui.url);
  });

  it('keeps its authority over restarts, and also serves the same folder without TLS', async () => {
    const before = readFileSync(info.caFile, 'utf8');
    up.signal('SIGTERM');
    await up.ended();
    up = startSvc([...words, '--pool', '0']);
    await up.prints('up after');
    expect(up.out()).toContain('http://127.0.0.1:');
    expect(await svc('worlds', 'list')).toContain('code-hosting');
    up.signal('SIGTERM');
    await up.ended();
    up = startSvc([...words, '--pool', '0', '--tls']);
    await up.prints('up after');
    expect(readFileSync(info.caFile, 'utf8')).toBe(before);
    expect(up.out()).toContain(`export NODE_EXTRA_CA_CERTS=${info.caFile}`);
    expect(await svc('worlds', 'list')).toContain('code-hosting');
  });
});
