import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { type Site, startSite } from '#test/support/browser/browser-program.ts';
import { processesNaming } from '#test/support/programs/processes.ts';

type Line = Record<string, unknown> & { id?: number };

/** Timeout for hooks: Chromium starts and stops in them, on machines that are busy with other work. */
const hookMs = 60_000;

let site: Site;
let folder: string;
let child: ChildProcess;
let lines: Line[];

const waiting = { timeoutMs: 20_000 };

const said = (what: string, wanted: (line: Line) => boolean): Promise<Line> =>
  until(() => lines.find(wanted), { ...waiting, what });

const command = (line: Line): Promise<Line> => {
  child.stdin?.write(`${JSON.stringify(line)}\n`);
  return said(`an answer to ${JSON.stringify(line)}`, ({ id }) => id === line.id);
};

const start = async (env: Record<string, string> = {}): Promise<void> => {
  folder = await mkdtemp(join(tmpdir(), 'svc-browser-lines-'));
  child = spawn(process.execPath, [join(import.meta.dirname, '../main.ts')], {
    env: { SVC_WORK_DIR: join(folder, 'work'), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  lines = [];
  const output = child.stdout as NodeJS.ReadableStream;
  createInterface({ input: output }).on('line', (text) => lines.push(JSON.parse(text)));
};

beforeAll(async () => {
  site = await startSite();
}, hookMs);

afterEach(async () => {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await until(() => processesNaming(folder).length === 0, { ...waiting, what: 'no process left' });
  await rm(folder, { recursive: true, force: true });
}, hookMs);

afterAll(() => site.close());

describe('a program with a Chromium', { timeout: 60_000 }, () => {
  beforeEach(async () => {
    await start();
    await said('its address', (line) => 'listening' in line);
  }, hookMs);

  it('reads commands as lines, prints events, and exits cleanly when its input ends', async () => {
    const reach = [{ origin: site.origin }];
    const entry = `${site.origin}/`;
    const assigned = await command({ id: 1, do: 'assign', entry, reach });
    expect(assigned.answer).toEqual({
      cdpUrl: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/cdp$/),
      token: expect.stringMatching(/^st-/),
    });
    expect(await command({ id: 2, do: 'assign', entry, reach })).toMatchObject({
      error: { error: 'conflict' },
    });
    const taken = await command({ id: 3, do: 'screenshot', format: 'jpeg' });
    expect(taken.answer).toMatchObject({
      format: 'jpeg',
      base64: expect.stringMatching(/^\/9j\//),
    });
    expect(await command({ id: 4, do: 'view_link', isReadOnly: true })).toMatchObject({
      answer: { url: expect.stringContaining('/view?ticket=lt-') },
    });
    expect((await command({ id: 5, do: 'checkpoint' })).answer).toMatchObject({
      tabs: [{ url: entry }],
    });
    expect(lines).toContainEqual({
      event: expect.objectContaining({ kind: 'navigated', url: entry }),
    });
    expect((await command({ id: 6, do: 'reset' })).answer).toBeNull();
    expect((await command({ id: 7, do: 'end' })).answer).toBeNull();
    expect((await command({ id: 8, do: 'status' })).answer).toMatchObject({ condition: 'warm' });
    // The standard input that drove it has ended.
    child.stdin?.end();
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
  });

  it('exits with status 1 when a line is no command', async () => {
    child.stdin?.write('{"id":1,"do":"format"}\n');
    const [code] = await once(child, 'exit');
    expect(code).toBe(1);
  });

  it('leaves no Chromium process behind when it is killed', async () => {
    expect(processesNaming(folder).length).toBeGreaterThan(1);
    child.kill('SIGKILL');
    await until(() => processesNaming(folder).length === 0, {
      ...waiting,
      what: 'no process left',
    });
  });
});

it('on a machine without Chromium the program prints how to install it', {
  timeout: 20_000,
}, async () => {
  await start({ SVC_CHROMIUM: '/nowhere/chromium' });
  let text = '';
  child.stderr?.on('data', (chunk) => {
    text += chunk;
  });
  const [code] = await once(child, 'close');
  expect(code).toBe(1);
  expect(text).toContain('there is no Chromium on this machine (looked at /nowhere/chromium)');
  expect(text).toContain('apt-get install chromium');
});
