/**
 * Measures sessions of a world of a million rows, compared with a small one: the first open on a machine, whose host
 * unpacks the snapshot, and one on a host that holds the world. Also compares the memory of ten sessions that have
 * read all rows with that of one. `query-large.ts` and `serve-large.ts` measure their requests.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '#runtime/pause.ts';
import { call, close, createNotes, open } from '../../test/support/control/sessions.ts';
import { type Network, startNetwork } from '../../test/support/programs/network.ts';
import { processesNaming } from '../../test/support/programs/processes.ts';
import { mappedBytes, pssBytes, treeOf } from './density.ts';
import { type Figure, median } from './figure.ts';
import { makeLargeWorlds } from './large-world.ts';
import { measureQueries } from './query-large.ts';
import { measureServing } from './serve-large.ts';

const runs = { first: 3, warm: 30 };
const sessions = 10;
const settleMs = 60_000;
/** Minimum share of the pages read, compared with the session that has read most. */
const leastRead = 0.9;

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

/** Removes the contents of a folder, but not the folder itself, which hosts have mounted. */
const emptyFolder = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
};

/** Measures first opens; empties the folder of unpacked snapshots before each. */
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

/** Memory of a host with all its child processes: its own part, and the pages of the base file that it has read. */
type HostMemory = { own: number; filePart: number; fileRead: number };

const memoryOfHost = (hostId: string): HostMemory => {
  const pids = [...new Set(processesNaming(hostId).flatMap(({ pid }) => treeOf(pid)))];
  const all = pids.reduce((sum, pid) => sum + pssBytes(pid), 0);
  const files = pids.map((pid) => mappedBytes(pid, '-snapshots/'));
  const filePart = files.reduce((sum, { pss }) => sum + pss, 0);
  return { own: all - filePart, filePart, fileRead: Math.max(...files.map(({ rss }) => rss)) };
};

/** Returns the memory of several hosts, each of which serves a session that has read all rows of its world. */
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
 * Returns how many times as much memory the large world needs for ten sessions as for one. Each session adds the memory
 * that its host does not share with other hosts. The same figure for a small world, after the same requests, is
 * subtracted. The pages of the base file are shared, so they are counted once for all sessions.
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

const measureOpens = async (network: Network, say: (line: string) => void): Promise<Figure[]> => {
  say('  opening the large world for the first time');
  const first = await measureFirst(network);
  say('  opening the large world on hosts that hold it');
  const small = median(await measureWarm(network, 'small'));
  const large = median(await measureWarm(network, 'large'));
  const rss = await measureMemory(network, say);
  return [
    figureOf('open.1m.first', median(first), { floor: small, target: 1_500 }),
    figureOf('open.1m.warm', large, { floor: small, target: small + 15 }),
    figureOf('open.1m.rss', rss, { unit: 'x', target: 1.5 }),
  ];
};

/** Measures on a network of its own. */
export const benchLarge = async (
  databaseUrl: string,
  wants: (name: string) => boolean,
  say: (line: string) => void,
): Promise<Figure[]> => {
  const blobDir = await mkdtemp(join(tmpdir(), 'svc-bench-blobs-'));
  const network = await startNetwork({
    databaseUrl,
    poolSize: sessions,
    poolMax: 2 * sessions,
    env: { SVC_LOG_LEVEL: 'warn' },
    // A folder of its own, since earlier runs may have left unpacked snapshots in the usual one.
    controlEnv: { SVC_BLOB_DIR: blobDir, SVC_WORK_DIR: join(blobDir, 'work') },
  });
  try {
    await createNotes(network.client, 'small');
    const world = await makeLargeWorlds(network, blobDir);
    await network.control.end('SIGTERM');
    await network.restartControl(); // its caches of the versions are wrong by now
    const figures: Figure[] = [];
    if (wants('query.1m')) figures.push(...(await measureQueries(network, say)));
    if (wants('open.1m')) figures.push(...(await measureOpens(network, say)));
    if (wants('serve.1m')) figures.push(...(await measureServing(world, say)));
    return figures;
  } finally {
    await network.stop();
    await rm(blobDir, { recursive: true, force: true });
  }
};
