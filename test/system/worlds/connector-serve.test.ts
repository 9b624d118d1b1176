/**
 * Tests `svc worlds connector serve`: serves a world's folder to its author, on real programs and without a service.
 */

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { runSvc, type Svc, startSvc } from '../../support/cli/svc.ts';
import { apiTree, notesUpTo, operation } from '../../support/worlds/api-world.ts';

const home = mkdtempSync(join(tmpdir(), 'svc-served-folder-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const operations = [
  operation('GET', '/notes', 'filter = { state = "state" }', { params: ['state'] }),
  operation('POST', '/notes', 'action = "create"'),
  operation('DELETE', '/notes/{id}', 'action = "delete"\nfilter = { id = "id" }'),
].join('\n');

const ui = '\n[ui]\nstatic = "page"\n';
const page = { 'page/index.html': '<!doctype html><title>Notes</title><h1>First</h1>' };

let folders = 0;
let folder = '';
let serving: Svc | undefined;

const put = (path: string, content: string | Uint8Array): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
};

const edit = (path: string, change: (content: string) => string): void =>
  put(path, change(readFileSync(join(folder, path), 'utf8')));

beforeEach(() => {
  folders += 1;
  folder = join(home, `notes-${folders}`);
  const tree = apiTree({ operations: `${operations}${ui}`, notes: notesUpTo(2), files: page });
  for (const { path, content } of tree) put(path, content);
});

afterEach(async () => {
  serving?.signal('SIGTERM');
  await serving?.ended();
  serving = undefined;
});

type Line = {
  serving?: { api: string; page: string | null; kept: number; leftOut: { reason: string }[] };
  request?: { method: string; path: string; status: number; changes: object };
};

const linesOf = (svc: Svc): Line[] =>
  svc
    .out()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Line);

const servedTimes = (svc: Svc) => linesOf(svc).flatMap(({ serving: one }) => one ?? []);

/**
 * Waits until the folder has been served this many times; returns the line printed for the last
 * one.
 */
const served = async (svc: Svc, times: number) => {
  const hasEnded = svc.ended().then(({ err }) => {
    throw new Error(`it ended: ${err}`);
  });
  const isServed = until(() => servedTimes(svc).length >= times, {
    timeoutMs: 50_000,
    what: 'it is served',
  });
  await Promise.race([isServed, hasEnded]);
  return servedTimes(svc)[times - 1] as NonNullable<Line['serving']>;
};

const start = async (...words: string[]) => {
  const svc = startSvc([
    ...['worlds', 'connector', 'serve', folder, '--json', '--token', 'st-own'],
    ...words,
  ]);
  serving = svc;
  const { api, page: entry } = await served(svc, 1);
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${api}${path}`, {
      method,
      headers: { authorization: 'Bearer st-own', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.text()) as string };
  };
  return { svc, api, entry: entry as string, ask };
};

/** Requests a page's address, whose name only browsers resolve to this machine. */
const get = async (api: string, url: string, headers: OutgoingHttpHeaders = {}) => {
  const { host, pathname, search } = new URL(url);
  const asked = request(`${api}${pathname}${search}`, { headers: { ...headers, host } }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { headers: response.headers, body: await text(response) };
};

describe('a folder that is served', () => {
  it('answers by its routes, shows its page, and prints each request', async () => {
    const { svc, api, entry, ask } = await start();
    expect(await ask('POST', '/notes', { id: 3, title: 'Third' })).toMatchObject({ status: 201 });
    expect(JSON.parse((await ask('GET', '/notes')).body)).toHaveLength(3);
    const entered = await get(api, entry);
    const [cookie = ''] = entered.headers['set-cookie'] ?? [];
    const shown = await get(api, new URL('/', entry).href, { cookie: cookie.split(';')[0] });
    expect(shown.body).toContain('<h1>First</h1>');
    await until(() => linesOf(svc).filter(({ request }) => request !== undefined).length >= 2, {
      timeoutMs: 10_000,
      what: 'requests are printed',
    });
    expect(linesOf(svc).flatMap(({ request }) => request ?? [])).toMatchObject([
      { method: 'POST', path: '/notes', status: 201, changes: { notes: { inserted: 1 } } },
      { method: 'GET', path: '/notes', status: 200 },
    ]);
  });

  it('is served again when a file is saved, with the changes made by requests', async () => {
    const { svc, ask } = await start();
    await ask('POST', '/notes', { id: 3, title: 'Third' });
    await ask('DELETE', '/notes/1');
    edit('data/notes.json', (rows) => rows.replace('Note 2', 'Second'));
    expect(await served(svc, 2)).toMatchObject({ kept: 2, leftOut: [] });
    const rows = JSON.parse((await ask('GET', '/notes')).body) as { title: string }[];
    expect(rows.map(({ title }) => title)).toEqual(['Second', 'Third']);
  });

  it('drops changes made by requests if they no longer fit its files, and prints the reason', async () => {
    const { svc, ask } = await start();
    await ask('POST', '/notes', { id: 3, title: 'Third', rank: 7 });
    await ask('POST', '/notes', { id: 4, title: 'Fourth' });
    edit('schema/world.json', (schema) =>
      schema.replace('"rank":{"type":["number","null"]}', '"rank":{"type":["string","null"]}'),
    );
    const { kept, leftOut } = await served(svc, 2);
    expect({ kept, leftOut }).toMatchObject({
      kept: 1,
      leftOut: [{ entity: 'notes', key: '[3]', change: 'inserted' }],
    });
    expect(leftOut[0]?.reason).toContain('rank');
    expect(JSON.parse((await ask('GET', '/notes')).body)).toHaveLength(3);
  });

  it('stays as it was while a file is invalid, and the mistake is printed with its place', async () => {
    const { svc, ask } = await start();
    const right = readFileSync(join(folder, 'connector.toml'), 'utf8');
    put('connector.toml', right.replace('entity = "notes"', 'entity = "nots"'));
    await until(() => svc.err().includes('nots'), {
      timeoutMs: 30_000,
      what: 'the error is printed',
    });
    expect(svc.err()).toContain('connector.toml');
    expect((await ask('GET', '/notes')).status).toBe(200);
    // Editors save like this: they write a second file, then rename it over the first.
    put('connector.toml.new', `${right}\n${operation('GET', '/more')}`);
    renameSync(join(folder, 'connector.toml.new'), join(folder, 'connector.toml'));
    await served(svc, 2);
    expect((await ask('GET', '/more')).status).toBe(200);
  });

  it('is not served again when an unrelated file changes', async () => {
    const { svc, ask } = await start();
    put('NOTES.md', 'about it');
    put('.git/index', 'x');
    put('page/index.html', '<h1>Second</h1>');
    await served(svc, 2);
    edit('data/notes.json', (rows) => rows.replace('Note 1', 'One'));
    await served(svc, 3);
    expect((await ask('GET', '/notes')).body).toContain('One');
    expect(servedTimes(svc)).toHaveLength(3);
  });

  it('delays requests while it is replaced, and refuses none', async () => {
    const { svc, ask } = await start();
    let isOver = false;
    const statuses = new Set<number>();
    const client = (async () => {
      while (!isOver) statuses.add((await ask('GET', '/notes')).status);
    })();
    for (const time of [2, 3, 4]) {
      edit('data/notes.json', (rows) => rows.replace(/Note 1\w*/, `Note 1${'x'.repeat(time)}`));
      await served(svc, time);
    }
    isOver = true;
    await client;
    expect([...statuses]).toEqual([200]);
  });

  it('ends with its program at Ctrl-C', async () => {
    const { svc, api } = await start();
    svc.signal('SIGINT');
    expect((await svc.ended()).status).toBe(0);
    await expect(fetch(api)).rejects.toThrow();
    serving = undefined;
  });
});

describe('a folder that cannot be served', () => {
  it('is refused with its name when it is missing or its files are invalid', async () => {
    const none = await runSvc(['worlds', 'connector', 'serve', join(home, 'nothing')]);
    expect(none).toMatchObject({ status: 1, err: expect.stringContaining('there is no folder') });
    put('connector.toml', 'slug = ');
    const wrong = await runSvc(['worlds', 'connector', 'serve', folder]);
    expect(wrong).toMatchObject({ status: 1, err: expect.stringContaining('connector.toml:1') });
  });

  it('is refused for an unknown task', async () => {
    const { status, err } = await runSvc(['worlds', 'connector', 'serve', folder, '--task', 'x']);
    expect({ status, err }).toMatchObject({
      status: 1,
      err: expect.stringContaining('no task "x"'),
    });
  });

  it('is refused at a port that is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await until(() => taken.listening, { timeoutMs: 30_000, what: 'the port is taken' });
    const { port } = taken.address() as { port: number };
    const words = ['worlds', 'connector', 'serve', folder, '--port', String(port)];
    const { status, err } = await runSvc(words);
    taken.close();
    expect({ status, err }).toMatchObject({
      status: 1,
      err: expect.stringContaining('EADDRINUSE'),
    });
  });
});
