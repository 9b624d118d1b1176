/**
 * Measures how fast sessions of a small world open during an import of 1,000,000 rows, and alone. A few opens of each
 * kind alternate, so that other work of the machine affects both. For opens alone, the import's process is suspended,
 * and resumed afterwards. The rows are uploaded before, so only the import itself runs during the measurement.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportChunk } from '#data/import/plan.ts';
import { until } from '#runtime/pause.ts';
import {
  completeBatch,
  confirmChunk,
  createBatch,
  createWorld,
  getBatch,
  registerChunk,
} from '#wire/public-api/operations.ts';
import { close, createNotes, open } from '../../test/support/control/sessions.ts';
import { type Network, startNetwork } from '../../test/support/programs/network.ts';
import { processesNaming } from '../../test/support/programs/processes.ts';
import { encodeTree } from '../../test/support/worlds/worlds.ts';
import { type Figure, median, percentile } from './figure.ts';
import { writeImportChunks } from './import-rows.ts';
import { shopTree } from './import-service.ts';

const million = 1_000_000;
const poolSize = 2;
/** Number of opens of each kind in all, and in each turn. */
const runs = { each: 200, turn: 20 };
/** Targets, as multiples of an open alone. */
const targets = { p50: 1.25, p99: 2 };
const settleMs = 60_000;

const settled = (network: Network): Promise<unknown> =>
  until(
    async () => {
      const states = (await network.hosts()).map((host) => host.state);
      return states.length >= poolSize && states.every((state) => state === 'warm');
    },
    { timeoutMs: settleMs, everyMs: 20, what: 'a warm and quiet pool' },
  );

/** Measures one open on a host that holds the world; returns nothing when another host was assigned. */
export const openOnce = async (network: Network): Promise<number[]> => {
  const { client } = network;
  await settled(network);
  const startedAt = performance.now();
  const session = await open(client, { slug: 'notes', reuseWarm: true });
  const ms = performance.now() - startedAt;
  if (session.state !== 'READY') throw new Error(`${session.id} is ${session.state}`);
  await close(client, session.id, true);
  return session.hostReused ? [ms] : [];
};

/** Uploads the rows as a batch that replaces existing rows, so that the same import can be repeated. */
const openBatch = async ({ client }: Network, chunks: readonly ImportChunk[]): Promise<string> => {
  const params = { slug: 'shop' };
  const entities = ['customers', 'orders', 'lines'];
  const body = { mode: 'replace' as const, redact: 'apply' as const, entities };
  const { batchId } = (await client.send(createBatch, { params, body })).body;
  for (const { ordinal, file, rows, entity } of chunks) {
    const bytes = readFileSync(file);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const chunk = { ordinal, rows, digest, bytes: bytes.byteLength, entity: entity ?? null };
    const registered = (
      await client.send(registerChunk, { params: { ...params, batchId }, body: chunk })
    ).body;
    const { chunkId, uploaded, uploadUrl = '', uploadHeaders = {} } = registered;
    if (uploaded) continue;
    const sent = await fetch(uploadUrl, { method: 'PUT', headers: uploadHeaders, body: bytes });
    if (!sent.ok) throw new Error(`chunk ${ordinal}: ${sent.status} ${await sent.text()}`);
    await client.send(confirmChunk, { params: { ...params, batchId, chunkId } });
  }
  return batchId;
};

const openSome = async (network: Network): Promise<number[]> => {
  const samples: number[] = [];
  for (let run = 0; run < runs.turn; run += 1) samples.push(...(await openOnce(network)));
  return samples;
};

/** Returns the process id of the import in progress; undefined without one. */
const importerOf = ({ control: { pid } }: Network): number | undefined => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const found = processesNaming('import-worker.ts').find((one) =>
    children.includes(String(one.pid)),
  );
  return found?.pid;
};

/** Runs work while a process is suspended; returns false when it had already ended. */
const whileStopped = async (pid: number, work: () => Promise<void>): Promise<boolean> => {
  try {
    process.kill(pid, 'SIGSTOP');
    await work();
    process.kill(pid, 'SIGCONT');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    process.kill(pid, 'SIGCONT');
    throw error;
  }
};

type Samples = { alone: number[]; beside: number[] };

/** Measures opens in turns, during the import and alone, until the import has ended or there are enough. */
const openInTurns = async (
  network: Network,
  batchId: string,
  samples: Samples,
  say: (line: string) => void,
): Promise<void> => {
  const params = { slug: 'shop', batchId };
  const stateOf = async () => (await network.client.send(getBatch, { params })).body.state;
  const isUnderWay = (state: string): boolean => state === 'validating' || state === 'applying';
  await network.client.send(completeBatch, { params });
  for (;;) {
    const state = await stateOf();
    if (state === 'published' || samples.beside.length >= runs.each) return;
    if (!isUnderWay(state) && state !== 'queued') throw new Error(`the import is ${state}`);
    const importer = importerOf(network);
    if (importer === undefined) continue;
    const beside = await openSome(network);
    if (!isUnderWay(await stateOf())) continue;
    let alone: number[] = [];
    const isPaired = await whileStopped(importer, async () => {
      alone = await openSome(network);
    });
    if (!isPaired) continue;
    samples.beside.push(...beside);
    samples.alone.push(...alone);
    const [aloneMs, besideMs] = [median(alone), median(beside)].map((ms) => ms.toFixed(1));
    say(`  ${state}: alone ${aloneMs} ms, beside it ${besideMs} ms`);
  }
};

const figureOf = (share: 'p50' | 'p99', beside: number[], alone: number[]): Figure => {
  const at = share === 'p50' ? 0.5 : 0.99;
  const floor = percentile(alone, at);
  return {
    name: `import.beside.open.${share}`,
    value: percentile(beside, at),
    unit: 'ms',
    floor,
    peer: null,
    target: targets[share] * floor,
    better: 'lower',
  };
};

/** Measures on a network of its own. The floor is the same opens while the import is suspended. */
export const benchOpenBesideImport = async (
  databaseUrl: string,
  say: (line: string) => void,
): Promise<Figure[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-rows-'));
  const network = await startNetwork({ databaseUrl, poolSize, env: { SVC_LOG_LEVEL: 'warn' } });
  try {
    await createNotes(network.client);
    const body = { slug: 'shop', from: encodeTree(shopTree()) };
    await network.client.send(createWorld, { body });
    const chunks = writeImportChunks(folder, million);
    const samples: Samples = { alone: [], beside: [] };
    const { alone, beside } = samples;
    // The first opens find no host that holds the world.
    for (let warmUp = 0; warmUp < 2 * poolSize; warmUp += 1) await openOnce(network);
    while (beside.length < runs.each) {
      await openInTurns(network, await openBatch(network, chunks), samples, say);
    }
    return [figureOf('p50', beside, alone), figureOf('p99', beside, alone)];
  } finally {
    await network.stop();
    await rm(folder, { recursive: true, force: true });
  }
};
