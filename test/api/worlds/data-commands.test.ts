/** Tests `svc worlds data import` and related commands against a control plane. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { createDesk, type Desk, type Ran } from '../../support/cli/commands-on-control.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;
let desk: Desk;

beforeAll(async () => {
  control = await startNotesControl();
  desk = createDesk(control);
});

afterAll(async () => {
  desk.clear();
  await control.stop();
});

const put = (name: string, content: string | Uint8Array): void =>
  writeFileSync(join(desk.folder, name), content);

/** Runs a command and returns its output; fails the test if the command fails. */
const svc = async (words: string): Promise<string> => {
  const { status, out, err } = await desk.svc(words);
  expect(status, err).toBe(0);
  return out;
};

const header = 'id,folder_id,title,done';

/** Returns this many notes as CSV, with ids from `from` on. */
const notesCsv = (from: number, count: number): string =>
  [header, ...Array.from({ length: count }, (_, i) => `${from + i},1,note ${from + i},false`)].join(
    '\n',
  );

describe('svc worlds data import', () => {
  it('creates a version from a small file', async () => {
    put('notes.csv', notesCsv(100, 3));
    const out = await svc('worlds data import notes notes.csv -m first');
    expect(out).toMatch(/version +2 \(ver-/);
    expect(out).toMatch(/imported +notes 3\n/);
    expect(out).toMatch(/message +first\n/);
    expect(await svc('worlds versions notes')).toMatch(/^2 .* import .* first$/m);
  });

  it('reports refused rows by file and line, and writes nothing', async () => {
    put(
      'notes.jsonl',
      '{"id":200,"folder_id":1,"title":"x","done":false}\n\n{"id":201,"folder_id":1,"title":5,"done":false}\n',
    );
    put('folders.json', '[\n{"id": 900, "name": "inbox"},\n{"id": 1, "name": "again"}]');
    for (const command of ['import', 'check']) {
      const { status, err } = await desk.svc(`worlds data ${command} notes notes.jsonl`);
      expect(status).toBe(1);
      expect(err).toMatch(
        /1 row (was refused, so nothing was written|would be refused):\n {2}notes.jsonl:3 +notes.title +must be string/,
      );
    }
    const refused = await desk.svc('worlds data import notes folders.json');
    expect(refused.err).toContain('folders.json:3');
    const json = await desk.svc('worlds data import notes notes.jsonl --json');
    expect(JSON.parse(json.err.slice(json.err.indexOf('{'))).error.refusals).toMatchObject([
      { place: 'notes.jsonl:3', entity: 'notes', field: 'title' },
    ]);
    expect(await svc('worlds versions notes')).not.toMatch(/^3 /m);
  });

  it('leaves out refused rows with --no-atomic, and writes a report', async () => {
    put(
      'mixed.jsonl',
      [
        '{"id":300,"folder_id":1,"title":"a","done":true}',
        '{"id":301,',
        '{"id":302,"folder_id":77,"title":"b","done":true}',
      ].join('\n'),
    );
    const out = await svc(
      'worlds data import notes mixed.jsonl --entity notes --no-atomic --report refused.jsonl',
    );
    expect(out).toMatch(/imported +notes 1\n/);
    expect(out).toMatch(/left out:\n {2}mixed.jsonl:2 .*\n {2}mixed.jsonl:3 /);
    const report = readFileSync(join(desk.folder, 'refused.jsonl'), 'utf8').trim().split('\n');
    expect(report.map((line) => JSON.parse(line).place)).toEqual([
      'mixed.jsonl:2',
      'mixed.jsonl:3',
    ]);
  });

  it('sends a large file in chunks, and keeps the batch unpublished with --publish later', async () => {
    put('large.csv.gz', gzipSync(notesCsv(1_000, 60_000)));
    const out = await svc('worlds data import notes large.csv.gz --entity notes --publish later');
    expect(out).toMatch(/60,000 rows of batch bat-\S+ are stored/);
    const [batch] = JSON.parse(await svc('worlds data batches notes --limit 1 --json')).data;
    expect(batch).toMatchObject({
      state: 'applied',
      rowCount: 60_000,
      chunkCount: 2,
      publish: 'later',
    });
    expect(await svc(`worlds data batches notes ${batch.batchId}`)).toMatch(/state +applied/);
    expect(await svc('worlds data publish notes -m later')).toMatch(
      /message +later\n(?:.*\n)*of 1 batch/m,
    );
    expect(await svc('worlds data batches notes')).toMatch(/published .* 60,000 /);
  });

  it('checks rows against the rows that the world already has', async () => {
    put('notes.csv', notesCsv(100, 1));
    const { err } = await desk.svc('worlds data check notes notes.csv');
    expect(err).toMatch(/1 row would be refused:\n {2}notes.csv:2 +notes/);
    put('notes.csv', notesCsv(90_000, 2));
    expect(await svc('worlds data check notes notes.csv')).toBe(
      '2 rows would be imported; nothing was written\n',
    );
  });
});

describe('svc worlds data import after a kill', () => {
  /**
   * Starts a proxy in front of the control plane. The proxy records each uploaded chunk, and can leave an upload
   * without an answer.
   */
  const startCounter = async (onPut: (count: number) => 'answer' | 'silence') => {
    const sent: string[] = [];
    const target = control.running.addresses.public[0] ?? '';
    const server = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const {
          host: _,
          connection: __,
          'content-length': ___,
          'transfer-encoding': ____,
          ...headers
        } = request.headers;
        const body = Buffer.concat(chunks);
        const answer = await fetch(`${target}${request.url}`, {
          method: request.method ?? 'GET',
          headers: headers as Record<string, string>,
          ...(body.length === 0 ? {} : { body }),
        });
        const bytes = await answer.bytes();
        if (request.method === 'PUT') {
          sent.push(new URL(request.url ?? '', target).pathname);
          if (onPut(sent.length) === 'silence') return;
        }
        response.writeHead(answer.status, {
          'content-type': answer.headers.get('content-type') ?? '',
        });
        response.end(bytes);
      })().catch(() => response.destroy());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, sent, close: () => server.closeAllConnections() };
  };

  it('resumes where it stopped, and uploads no chunk twice', async () => {
    const title = 'x'.repeat(2_000);
    const rows = Array.from({ length: 6_500 }, (_, i) => `${500_000 + i},1,${i}${title},false`);
    put('notes.csv', [header, ...rows].join('\n'));
    const killed = Promise.withResolvers<void>();
    let isFirst = true;
    const counter = await startCounter((count) => {
      if (count === 3) killed.resolve();
      return count >= 3 && isFirst ? 'silence' : 'answer';
    });
    const env = {
      PATH: process.env.PATH,
      XDG_STATE_HOME: desk.folder,
      SVC_URL: counter.url,
      SVC_PUBLIC_KEY: control.publicKey,
      SVC_SECRET_KEY: control.secretKey,
    };
    const main = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
    const words = [main, 'worlds', 'data', 'import', 'notes', 'notes.csv', '--dry-run', '--json'];
    const start = () =>
      spawn(process.execPath, words, {
        cwd: desk.folder,
        env,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    let child = start();
    await killed.promise;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    isFirst = false;
    const before = counter.sent.length;
    expect(before).toBeGreaterThanOrEqual(3);
    child = start();
    const out: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    const [status] = await once(child, 'close');
    counter.close();
    expect(status).toBe(0);
    const batch = JSON.parse(Buffer.concat(out).toString());
    expect(batch).toMatchObject({ state: 'applied', rowCount: 6_500, landed: { notes: 6_500 } });
    expect(batch.chunkCount).toBeGreaterThan(before);
    expect(new Set(counter.sent).size).toBe(counter.sent.length);
    expect(counter.sent).toHaveLength(batch.chunkCount);
    const { data } = JSON.parse(await svc('worlds data batches notes --json'));
    expect(data.filter(({ rowCount }: { rowCount: number }) => rowCount === 6_500)).toHaveLength(1);
  });
});

/** Runs a command, and sends it SIGINT once the condition is true. */
const interrupt = async (own: Desk, words: string, when: () => Promise<boolean>): Promise<Ran> => {
  const before = new Set(process.listeners('SIGINT'));
  const ran = own.svc(words);
  await until(when, { timeoutMs: 20_000, everyMs: 10, what: `the moment to interrupt ${words}` });
  for (const result of process.listeners('SIGINT')) if (!before.has(result)) result('SIGINT');
  return ran;
};

describe('an interrupted import', () => {
  it('reports that the service continues by itself once all rows are sent, and how to cancel it', async () => {
    const idle = await startNotesControl({ imports: { processes: 0 } });
    const own = createDesk(idle);
    writeFileSync(join(own.folder, 'notes.csv'), notesCsv(100, 3));
    const isQueued = async (): Promise<boolean> =>
      /queued/.test((await own.svc('worlds data batches notes')).out);
    const words = 'worlds data import notes notes.csv --publish later';
    const { status, err } = await interrupt(own, words, isQueued);
    expect(status).toBe(130);
    // On a slow machine the command prints its progress first.
    expect(err).toMatch(/^error: interrupted \(batch bat-\S+\)\nhint: all rows are uploaded, /m);
    const [, command = ''] = /"svc (worlds data cancel \S+ \S+)"/.exec(err) ?? [];
    expect((await own.svc(command)).out).toMatch(/^batch bat-\S+ is cancelled$/m);
    expect((await own.svc('worlds data batches notes')).out).toMatch(/failed/);
    own.clear();
    await idle.stop();
  });
});

describe('svc worlds create', () => {
  it('accepts rows from CSV, and names a bad row by file and line', async () => {
    desk.write('notes', notesWorld());
    put('notes.csv', notesCsv(100, 3));
    expect(await svc('worlds create rows --from ./notes --rows notes.csv')).toMatch(
      /rows +folders 1, notes 4/,
    );
    put('notes.csv', `${notesCsv(100, 3)}\n103,1,,false`);
    const { status, err } = await desk.svc('worlds create bad --from ./notes --rows notes.csv');
    expect(status).toBe(1);
    expect(err).toMatch(
      /rows were refused, so nothing was written:\n {2}notes.csv:5 {2}notes\.\w+ {2}/,
    );
    expect((await desk.svc('worlds describe bad')).err).toContain('no world');
  });

  it('creates the worlds of a batch file, reports each line, and exits with 2 if one fails', async () => {
    const lines = [
      {
        slug: 'one',
        from: './notes',
        data: { rows: { notes: [{ id: 9, folder_id: 1, title: 'a', done: true }] } },
      },
      { slug: 'two', from: './notes', data: { rows: { notes: [{ id: 9 }] } } },
      { slug: 'three', from: './notes', colour: 'red' },
      { slug: 'four', from: './notes', name: 'Four' },
    ];
    put('worlds.jsonl', [...lines.map((line) => JSON.stringify(line)), '{'].join('\n'));
    const { status, out } = await desk.svc('worlds create --batch worlds.jsonl');
    expect(status).toBe(2);
    expect(out.split('\n').map((line) => line.slice(0, 26).trim())).toEqual([
      'line 1  created  one  vers',
      expect.stringMatching(/^line 2 {2}failed {3}two:/),
      'line 3  failed   three: "c',
      'line 4  created  four  ver',
      'line 5  failed   -: is not',
      '',
    ]);
    put('good.jsonl', '{"slug": "five"}');
    const made = JSON.parse(await svc('worlds create --batch good.jsonl --from ./notes --json'));
    expect(made).toMatchObject({ line: 1, slug: 'five', world: { slug: 'five' } });
    expect((await desk.svc('worlds create --batch none.jsonl')).status).toBe(1);
    expect((await desk.svc('worlds create x --batch good.jsonl')).status).toBe(1);
  });
});
