/**
 * Measures two waits of an author of worlds: from the command `svc worlds connector serve` to the first answer, and
 * from a saved file to an answer with the change. The world has 20 entities of 15 fields, three operations and 100
 * rows each.
 *
 * The floors are the same steps without this product: a Node process that starts and listens, and a file that is saved
 * and read again by a watcher.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../src/cli/up/free-port.ts';
import { type Figure, median, percentile, sample } from './figure.ts';
import { generateWorld } from './language-world.ts';

const main = fileURLToPath(new URL('../../bin/svc.mjs', import.meta.url));
const size = { entities: 20, rowsPerEntity: 100, operations: 60 };
const token = 'st-bench';
const starts = 10;
const saves = 50;
const pollMs = 2;

const ask = async (port: number, path: string): Promise<string | undefined> => {
  const asked = request({
    ...{ host: '127.0.0.1', port, path },
    headers: { authorization: `Bearer ${token}` },
  });
  asked.end();
  try {
    const [response] = (await once(asked, 'response')) as [NodeJS.ReadableStream];
    return await text(response);
  } catch {
    return undefined; // the server does not listen yet
  }
};

/** Polls until the answer contains a text. */
const whenAnswers = async (port: number, path: string, wanted: string): Promise<void> => {
  while (!(await ask(port, path))?.includes(wanted)) await sleep(pollMs);
};

const serve = (folder: string, port: number): ChildProcess =>
  spawn(
    process.execPath,
    [
      main,
      ...['worlds', 'connector', 'serve', folder, '--json'],
      ...['--token', token, '--port', String(port)],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );

const end = async (child: ChildProcess): Promise<void> => {
  const closed = once(child, 'close');
  child.stdout?.resume();
  child.kill('SIGTERM');
  await closed;
};

const benchStart = async (folder: string): Promise<Figure> => {
  const took = await sample(starts + 1, async () => {
    const port = await findFreePort();
    const child = serve(folder, port);
    child.stdout?.resume();
    await whenAnswers(port, '/records/0', 'Record 1 of 0');
    await end(child);
  });
  const bare = await sample(starts, async () => {
    const child = spawn(process.execPath, [
      '-e',
      'require("http").createServer().listen(0, "127.0.0.1", () => process.exit(0))',
    ]);
    await once(child, 'close');
  });
  return {
    name: 'dev.start',
    // The first run may fill the compile cache for the others, so it does not count.
    value: median(took.slice(1)),
    unit: 'ms',
    floor: median(bare),
    peer: null,
    target: 1_000,
    better: 'lower',
  };
};

/** Measures the time from saving a file until a watcher has read it. */
const watchFloor = async (file: string): Promise<number> => {
  let seen = Promise.withResolvers<void>();
  const watcher = watch(file, () => {
    readFileSync(file);
    seen.resolve();
  });
  const took = await sample(saves, async (run) => {
    seen = Promise.withResolvers();
    writeFileSync(file, JSON.stringify({ run }));
    await seen.promise;
  });
  watcher.close();
  return median(took);
};

const benchReload = async (folder: string): Promise<Figure[]> => {
  const port = await findFreePort();
  const child = serve(folder, port);
  if (child.stdout !== null) createInterface({ input: child.stdout });
  await whenAnswers(port, '/records/0', 'Record 1 of 0');
  const rows = join(folder, 'data/records_19.json');
  const connector = join(folder, 'connector.toml');
  const [rowsText, connectorText] = [rows, connector].map((path) => readFileSync(path, 'utf8'));
  const reload = (path: string, change: (run: number) => string, route: (run: number) => string) =>
    sample(saves, async (run) => {
      writeFileSync(path, change(run));
      await whenAnswers(port, route(run), 'Record');
      await sleep(40); // so that the watcher does not merge this save with the next
    });
  const ofRoutes = await reload(
    connector,
    (run) => (connectorText ?? '').replace('path = "/records/19"', `path = "/saved/${run}"`),
    (run) => `/saved/${run}`,
  );
  const ofRows = await sample(saves, async (run) => {
    writeFileSync(rows, (rowsText ?? '').replace('Record 7 of 19', `Saved in run ${run}`));
    await whenAnswers(port, `/saved/${saves - 1}`, `Saved in run ${run}"`);
    await sleep(40);
  });
  await end(child);
  const floor = await watchFloor(join(folder, 'data/records_18.json'));
  const figure = (name: string, value: number, target: number | null): Figure => ({
    ...{ name, value, unit: 'ms', floor, peer: null, target, better: 'lower' },
  });
  const both = [...ofRoutes, ...ofRows];
  return [
    figure('dev.reload', percentile(both, 0.5), 150),
    figure('dev.reload.p95', percentile(both, 0.95), null),
    figure('dev.reload.rows', percentile(ofRows, 0.5), null),
    figure('dev.reload.routes', percentile(ofRoutes, 0.5), null),
  ];
};

/** Measures both waits. */
export const benchAuthor = async (): Promise<Figure[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-author-'));
  try {
    for (const { path, content } of generateWorld(size)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    return [await benchStart(folder), ...(await benchReload(folder))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
