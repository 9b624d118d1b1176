/**
 * Network access from inside a browser's container, on real containers of a whole installation. Two
 * attackers are tried: code that has escaped from Chromium (a process in the container), and
 * Chromium itself, driven over the address that clients get. Both reach only the session's own page
 * and the control plane's host API.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { createWorld, getSession, openSession } from '#wire/public-api/operations.ts';
import type { OpenSessionBody, SessionView } from '#wire/public-api/sessions/session.ts';
import { solveByBrowser } from '../../support/browser/solve-by-browser.ts';
import { close } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { docker } from '../../support/orchestrator/runtimes.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';
import { dockerAnswers, prepareDocker } from '../../support/programs/prepare-docker.ts';
import { toTree, unlinkedWorld } from '../../support/worlds/small-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

const hasDocker = await dockerAnswers();
if (!hasDocker) console.info('browsers on docker are not attacked: no Docker engine answers');

/** Time limit for the start, in milliseconds. It allows for a build of the browser image. */
const startMs = 900_000;
const waiting = { timeoutMs: 120_000, everyMs: 250 };

type Opened = { session: SessionView; world: string; browser: string };

describe.skipIf(!hasDocker)('from inside a browser’s container', { timeout: 180_000 }, () => {
  let database: TestDatabase;
  let network: Network;
  let mine: Opened;
  let other: Opened;
  let client: Browser;
  let page: Page;
  /** A server on this machine, like the gateway or the database; it counts its requests. */
  const listener = createServer((_, response) => {
    heard += 1;
    response.end('here');
  });
  let heard = 0;
  /** Addresses that must be unreachable, by name. */
  let targets: Record<string, string>;

  /** Opens a session; returns it with the Docker names of its containers. */
  const open = async (asked: OpenSessionBody = { slug: 'board' }): Promise<Opened> => {
    const surfaces: ('ui' | 'browser')[] = ['ui', 'browser'];
    const { body } = await network.client.send(openSession, { body: { ...asked, surfaces } });
    const isThere = async () => {
      const params = { sessionId: body.id };
      const view = (await network.client.send(getSession, { params, query: { wait: 5 } })).body;
      return view.surfaces.browser?.cdpUrl === undefined ? undefined : view;
    };
    const session = await until(isThere, { ...waiting, what: 'a session with its browser' });
    const rows = await network.sql<{ id: string; kind: string }>(
      'select id, kind from hosts where session_id = $1',
      [body.id],
    );
    const nameOf = (kind: string) => `svc-${rows.find((row) => row.kind === kind)?.id}`;
    return { session, world: nameOf('world'), browser: nameOf('browser') };
  };

  const ipOf = (name: string): Promise<string> =>
    docker('inspect', '--format', '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}', name);

  /**
   * Requests all addresses at once from a process in the container; returns each status or error.
   */
  const ask = async (urls: readonly string[]): Promise<string[]> => {
    const code = `Promise.all(process.argv.slice(1).map((url) =>
      fetch(url, { signal: AbortSignal.timeout(4000) }).then(
        ({ status }) => 'status ' + status,
        ({ cause, message }) => 'failed ' + (cause?.code ?? message))))
      .then((said) => console.log(JSON.stringify(said)))`;
    return JSON.parse(await docker('exec', mine.browser, 'node', '--eval', code, ...urls));
  };

  beforeAll(async () => {
    database = await testDatabase();
    const installation = `fence-${randomBytes(4).toString('hex')}`;
    const prepared = await prepareDocker(installation, { browsers: true });
    network = await startNetwork({
      databaseUrl: database.url,
      installation,
      runtime: 'docker',
      poolSize: 2,
      env: { SVC_BROWSER_POOL_SIZE: '2', SVC_BROWSER_MEMORY_MB: '768' },
      hostName: prepared.host,
      ...(prepared.listen === null ? {} : { listen: prepared.listen }),
    });
    const small = unlinkedWorld();
    small.text['web/board/app.js'] = 'export const board = 1;';
    await network.client.send(createWorld, {
      body: { slug: 'board', from: encodeTree(toTree(small)) },
    });
    [mine, other] = [await open(), await open()];
    const { cdpUrl = '', token = '' } = mine.session.surfaces.browser as Record<string, string>;
    client = await chromium.connectOverCDP(cdpUrl, {
      headers: { authorization: `Bearer ${token}` },
    });
    page = client.contexts()[0]?.pages()[0] as Page;
    const databasePort = new URL(database.url).port;
    const machine = new URL(network.hostUrl).hostname;
    await new Promise<void>((resolve) => listener.listen(0, '0.0.0.0', resolve));
    const { port } = listener.address() as AddressInfo;
    targets = {
      'a server of the machine': `http://${machine}:${port}/`,
      'the world of its own session, past the tunnel': `http://${await ipOf(mine.world)}:8080/`,
      'the world of another session': `http://${await ipOf(other.world)}:8080/`,
      'the browser of another session': `http://${await ipOf(other.browser)}:8080/view`,
      'the page of another session': `${other.session.surfaces.ui?.url}/`,
      'the public API': `${network.url}/health`,
      'the public API at the machine': `http://${machine}:${new URL(network.url).port}/health`,
      'the internal API': `${network.internalUrl}/health`,
      'the internal API at the machine': `http://${machine}:${new URL(network.internalUrl).port}/`,
      'the database': `http://${machine}:${databasePort}/`,
      'the metadata address': 'http://169.254.169.254/latest/meta-data/',
      'the metadata address of IPv6': 'http://[fd00:ec2::254]/',
      'an outside address': 'http://1.1.1.1/',
      'an outside name': 'http://example.com/',
      'a name of the engine’s': 'http://host.docker.internal:2375/',
      'the engine’s resolver': 'http://127.0.0.11/',
    };
  }, startMs);

  afterAll(async () => {
    await client?.close();
    for (const opened of [mine, other]) {
      if (opened !== undefined) await close(network.client, opened.session.id);
    }
    listener.close();
    await network?.stop();
    await database?.drop();
  }, 120_000);

  it('a process reaches the host API, and Chromium shows the session’s own page', async () => {
    expect(new URL(page.url()).origin).toBe(mine.session.surfaces.ui?.url);
    expect(await page.locator('body').count()).toBe(1);
    const [said] = await ask([`${network.hostUrl}/api/host/hosts/x/poll`]);
    expect(said).toMatch(/^status 4\d\d$/);
  });

  it('a process reaches no other address', async () => {
    const said = await ask(Object.values(targets));
    const reached = Object.entries(targets).flatMap(([name, url], index) =>
      said[index]?.startsWith('failed ') ? [] : [`${name}: ${url}: ${said[index]}`],
    );
    expect(reached).toEqual([]);
  });

  it('a process finds no credentials with which it could open a tunnel', async () => {
    const files = await docker(
      'exec',
      mine.browser,
      'sh',
      '-c',
      'env; cat /proc/1/environ || true',
    );
    expect(files).not.toMatch(/Bearer|hst_[^\s]*\./);
    const authority = new URL(other.session.surfaces.ui?.url ?? '').host;
    const { hostname, port } = new URL(network.hostUrl);
    const code = `require('node:http').request({ host: '${hostname}', port: ${port}, method: 'CONNECT', path: '${authority}' })
      .on('connect', ({ statusCode }) => { console.log('status ' + statusCode); process.exit(); })
      .on('error', ({ code }) => console.log('failed ' + code)).end()`;
    expect(await docker('exec', mine.browser, 'node', '--eval', code)).toBe('status 401');
  });

  it('Chromium and its pages open no other address', async () => {
    const addresses = {
      ...targets,
      'a file': 'file:///etc/passwd',
      'a file of the profile': 'file:///tmp/work/',
      'its own DevTools': 'http://127.0.0.1:8080/cdp',
      'its own live view': 'http://127.0.0.1:8080/view',
      'the usual port of DevTools': 'http://127.0.0.1:9222/json/version',
      'a page of the browser’s': 'chrome://version',
      'the source of a page': `view-source:${mine.session.surfaces.ui?.url}`,
    };
    const opened: string[] = [];
    for (const [name, url] of Object.entries(addresses)) {
      const went = await page.goto(url, { timeout: 10_000 }).then(
        (answer) => `status ${answer?.status()}`,
        () => undefined,
      );
      if (went !== undefined && went !== 'status 403') opened.push(`${name}: ${went}`);
    }
    expect(opened).toEqual([]);
    await page.goto(`${mine.session.surfaces.ui?.url}/`);
    // Without CORS a page sees only an opaque answer, so the server counts the requests.
    await page.evaluate(async (urls: string[]) => {
      for (const url of urls) await fetch(url, { mode: 'no-cors' }).catch(() => undefined);
    }, Object.values(targets));
    expect(heard).toBe(0);
    const isThere = await fetch(targets['a server of the machine'] ?? '');
    expect([isThere.status, heard]).toEqual([200, 1]);
  });

  it('an agent still solves a task in the page', async () => {
    await network.client.send(createWorld, { body: { slug: 'hub', from: 'code-hosting' } });
    const opened = await open({ slug: 'hub', task: 'close-duplicate' });
    await solveByBrowser(network.client, opened.session);
    await close(network.client, opened.session.id);
  });

  it('nothing in the container is writable except its scratch space', async () => {
    for (const place of ['/opt/svc', '/usr', '/etc', '/home']) {
      await expect(docker('exec', mine.browser, 'touch', `${place}/x`)).rejects.toThrow();
    }
    const inspected = JSON.parse(await docker('inspect', mine.browser))[0];
    expect(inspected.HostConfig).toMatchObject({
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      Privileged: false,
      PidsLimit: 512,
      Memory: 768 * 2 ** 20,
    });
  });
});
