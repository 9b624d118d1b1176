/**
 * A world of a million rows, queried through the API, and its sessions: the first on a machine, whose host unpacks the snapshot; one on a host that
 * holds the world, beside the same of a small one; and what the rows of ten take in memory beside those of one, when
 * each has read all of them.
 */
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Contract } from '#language/contract.ts';
import { until } from '#runtime/pause.ts';
import { readData } from '#wire/public-api/operations.ts';
import { pathOf } from '../../src/control/blobs/blobs.ts';
import { runImport } from '../../src/data/import/run.ts';
import { type Network, startNetwork } from '../support/network.ts';
import { processesNaming } from '../support/processes.ts';
import { call, close, createNotes, open } from '../support/sessions.ts';
import { mappedBytes, pssBytes, treeOf } from './density.ts';
import { type Figure, median } from './figure.ts';

const rows = 1_000_000;
const folders = 1_000;
const rowsAChunk = 50_000;
const runs = { first: 3, warm: 30, queries: 300 };
const sessions = 10;
const settleMs = 60_000;
/** Of the pages that the session which read most has read. */
const leastRead = 0.9;

const noteOf = (id: number): string =>
  JSON.stringify({
    id,
    folder_id: 1 + (id % folders),
    title: `note ${id} of ${(id * 7_919) % 1_000_003}`,
    done: id % 3 === 0,
  });

const writeChunk = async (folder: string, ordinal: number, lines: string[]) => {
  const file = join(folder, `${ordinal}.jsonl.gz`);
  await writeFile(file, gzipSync(`${lines.join('\n')}\n`, { level: 1 }));
  return { ordinal, file, rows: lines.length };
};

const writeChunks = async (folder: string) => {
  const all = Array.from({ length: folders }, (_, index) =>
    JSON.stringify({ id: index + 1, name: `folder ${index + 1}` }),
  );
  const chunks = [{ ...(await writeChunk(folder, 0, all)), entity: 'folders' }];
  for (let from = 1; from <= rows; from += rowsAChunk) {
    const lines = Array.from({ length: rowsAChunk }, (_, index) => noteOf(from + index));
    chunks.push({ ...(await writeChunk(folder, chunks.length, lines)), entity: 'notes' });
  }
  return chunks;
};

/** Gives the head of a world a million rows, in place of its own. */
const fillWorld = async (network: Network, slug: string, blobDir: string): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-rows-'));
  try {
    const head = 'id = (select head_version_id from worlds where slug = $1)';
    const [version] = await network.sql<{ contract: Contract }>(
      `select contract from versions where ${head}`,
      [slug],
    );
    if (version === undefined) throw new Error(`there is no world ${slug}`);
    const outcome = await runImport({
      contract: version.contract,
      base: null,
      chunks: await writeChunks(folder),
      mode: 'append',
      redact: 'off',
      atomic: true,
      dryRun: false,
      folder: join(folder, 'import'),
    });
    if (outcome.kind !== 'applied' || outcome.snapshot === null) throw new Error(outcome.kind);
    const { digest, file } = outcome.snapshot;
    const path = join(blobDir, pathOf(digest));
    await mkdir(dirname(path), { recursive: true });
    await cp(file, path);
    await network.sql(`update versions set snapshot = $2 where ${head}`, [slug, digest]);
  } finally {
    await rm(folder, { recursive: true });
  }
};

const settled = (network: Network, count: number): Promise<unknown> =>
  until(
    async () => {
      const states = (await network.hosts()).map((host) => host.state);
      return states.length >= count && states.every((state) => state === 'warm');
    },
    { timeoutMs: settleMs, everyMs: 100, what: 'a warm and quiet pool' },
  );

const timedOpen = async (network: Network, slug: string, reuseWarm: boolean) => {
  const startedAt = performance.now();
  const session = await open(network.client, { slug, reuseWarm });
  const ms = performance.now() - startedAt;
  if (session.state !== 'READY') throw new Error(`${session.id}: ${JSON.stringify(session)}`);
  return { ms, session };
};

/** What is in it; hosts have the folder itself in their sight. */
const emptyFolder = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
};

/** The folder of unpacked snapshots is emptied before each. */
const measureFirst = async (network: Network): Promise<number[]> => {
  const samples: number[] = [];
  for (let run = 0; run < runs.first; run += 1) {
    await settled(network, sessions);
    await emptyFolder(join(tmpdir(), `svc-${network.installation}-snapshots`));
    const { ms, session } = await timedOpen(network, 'large', false);
    samples.push(ms);
    await close(network.client, session.id);
  }
  return samples;
};

const measureWarm = async (network: Network, slug: string): Promise<number[]> => {
  const samples: number[] = [];
  for (let run = 0; run <= runs.warm; run += 1) {
    await settled(network, sessions);
    const { ms, session } = await timedOpen(network, slug, true);
    if (session.hostReused) samples.push(ms);
    await close(network.client, session.id, true);
  }
  if (samples.length < runs.warm / 2) throw new Error(`only ${samples.length} opens found a host`);
  return samples;
};

/** One row by its key, and a page of a foreign key's, in turn; the first of each has the snapshot unpacked. */
const measureQueries = async ({ client }: Network): Promise<number[]> => {
  const samples: number[] = [];
  for (let run = -2; run < runs.queries; run += 1) {
    const id = 1 + (((run + 2) * 7_919) % rows);
    const where = run % 2 === 0 ? { id } : { folder_id: 1 + (id % folders) };
    const query = { entity: 'notes', where: JSON.stringify(where) };
    const startedAt = performance.now();
    const { body } = await client.send(readData, { params: { slug: 'large' }, query });
    if (run >= 0) samples.push(performance.now() - startedAt);
    if (!('data' in body) || body.data.length === 0) throw new Error(JSON.stringify(body));
  }
  return samples;
};

/** Memory of a host with all that it started: its own part, and the file of base rows as far as it has read it. */
type HostMemory = { own: number; filePart: number; fileRead: number };

const memoryOfHost = (hostId: string): HostMemory => {
  const pids = [...new Set(processesNaming(hostId).flatMap(({ pid }) => treeOf(pid)))];
  const all = pids.reduce((sum, pid) => sum + pssBytes(pid), 0);
  const files = pids.map((pid) => mappedBytes(pid, '-snapshots/'));
  const filePart = files.reduce((sum, { pss }) => sum + pss, 0);
  return { own: all - filePart, filePart, fileRead: Math.max(...files.map(({ rss }) => rss)) };
};

/** The memory of hosts with a session each, which has looked at all rows of its world. */
const memoryServing = async (network: Network, slug: string): Promise<HostMemory[]> => {
  await settled(network, sessions);
  const opened: string[] = [];
  for (let count = 0; count < sessions; count += 1) {
    const { session } = await timedOpen(network, slug, false);
    opened.push(session.id);
    const input = { entity: 'notes', where: { title: 'none has it' } };
    const answer = await call(network.client, session.id, { kind: 'state', input });
    if (answer.state !== 'succeeded') throw new Error(JSON.stringify(answer));
  }
  const serving = (await network.hosts()).filter(({ session_id }) => session_id !== null);
  const found = serving.map(({ id }) => memoryOfHost(id));
  for (const id of opened) await close(network.client, id);
  return found;
};

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * What ten sessions take for the world beside what one takes. Each takes what its host has of its own above one
 * that serves a small world and was asked the same; together they take the pages of the file, which count once.
 */
const measureMemory = async (network: Network, say: (line: string) => void): Promise<number> => {
  const small = await memoryServing(network, 'small');
  const large = await memoryServing(network, 'large');
  const file = large.reduce((sum, { filePart }) => sum + filePart, 0);
  const one = Math.max(...large.map(({ fileRead }) => fileRead));
  const isRead = one > 0 && large.every(({ fileRead }) => fileRead >= leastRead * one);
  if (!isRead) throw new Error('a session has not read its rows');
  const ownOf = (hosts: readonly HostMemory[]): number => mean(hosts.map(({ own }) => own));
  const own = Math.max(0, ownOf(large) - ownOf(small));
  const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  say(
    `  a host has ${mebibytes(ownOf(small))} of its own with a small world, ${mebibytes(ownOf(large))} with the large one; of its file ten have ${mebibytes(file)}, one has ${mebibytes(one)}`,
  );
  return (sessions * own + file) / (own + one);
};

const figureOf = (
  name: string,
  value: number,
  {
    unit = 'ms' as Figure['unit'],
    floor = null as number | null,
    target,
  }: { unit?: Figure['unit']; floor?: number | null; target: number | null },
): Figure => ({ name, value, unit, floor, peer: null, target, better: 'lower' });

/** On a network of its own. */
export const benchOpenLarge = async (
  databaseUrl: string,
  say: (line: string) => void,
): Promise<Figure[]> => {
  const blobDir = await mkdtemp(join(tmpdir(), 'svc-bench-blobs-'));
  const network = await startNetwork({
    databaseUrl,
    poolSize: sessions,
    poolMax: 2 * sessions,
    env: { SVC_LOG_LEVEL: 'warn' },
    controlEnv: { SVC_BLOB_DIR: blobDir },
  });
  try {
    await createNotes(network.client, 'small');
    await createNotes(network.client, 'large');
    await fillWorld(network, 'large', blobDir);
    await network.control.end('SIGTERM');
    await network.restartControl(); // what it remembers of the version is not so any more
    say('  querying it');
    const queries = await measureQueries(network);
    say('  opening it first');
    const first = await measureFirst(network);
    say('  opening it on hosts that hold it');
    const small = median(await measureWarm(network, 'small'));
    const large = median(await measureWarm(network, 'large'));
    return [
      figureOf('query.1m.p50', median(queries), { target: 10 }),
      figureOf('open.1m.first', median(first), { floor: small, target: 1_500 }),
      figureOf('open.1m.warm', large, { floor: small, target: small + 15 }),
      figureOf('open.1m.rss', await measureMemory(network, say), { unit: 'x', target: 1.5 }),
    ];
  } finally {
    await network.stop();
    await rm(blobDir, { recursive: true, force: true });
  }
};
