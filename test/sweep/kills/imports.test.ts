/**
 * Tests imports under kills: the control plane, the import's own process and PostgreSQL are killed while chunks are
 * sent, when the batch is sealed, while rows are validated and applied, and while the version is written. After each
 * kill the import completes by itself and requests no chunk that it already has. The version equals that of an
 * undisturbed run, byte for byte.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { pause, until } from '#runtime/pause.ts';
import { basicAuthorization, type Client, createClient } from '#wire/client.ts';
import {
  completeBatch,
  confirmChunk,
  createBatch,
  createWorld,
  getBatch,
  getWorld,
  registerChunk,
} from '#wire/public-api/operations.ts';
import type { BatchView, ChunkView } from '#wire/public-api/worlds/data.ts';
import { retrying } from '#wire/retry.ts';
import { type PostgresServer, startPostgres } from '../../../src/cli/up/postgres.ts';
import { type Chunk, chunkOf } from '../../support/control/batches.ts';
import { freePorts } from '../../support/programs/network.ts';
import { signalTo } from '../../support/programs/processes.ts';
import { type Program, startProgram } from '../../support/programs/program.ts';
import { createChance } from '../../support/random/chance.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';
import { isSingle } from './extent.ts';

const { seed, total } = inject('sweep');
const victims = ['control plane', 'import process', 'PostgreSQL'] as const;
const phases = ['uploading', 'queued', 'validating', 'applying'] as const;
type Case = { victim: (typeof victims)[number]; phase: (typeof phases)[number]; delayMs: number };

/** Source of the random cases; the number of imports is a fifth of the sweep's total number of cases. */
const chance = createChance(seed);
const cases: Case[] = Array.from({ length: isSingle ? 0 : Math.ceil(total / 5) }, (_, at) => ({
  victim: victims[(at + seed) % victims.length] ?? 'control plane',
  phase: phases[Math.floor(chance.between(0, phases.length))] ?? 'queued',
  delayMs: Math.round(chance.between(0, 1_500)),
}));

const timeoutMs = 180_000;
const rowsOfChunk = 10_000;
const chunks: Chunk[] = Array.from({ length: 4 }, (_, ordinal) =>
  chunkOf(
    Array.from({ length: rowsOfChunk }, (__, at) => {
      const id = 10_000 + ordinal * rowsOfChunk + at;
      return { id, name: `folder ${id}` };
    }),
    'folders',
  ),
);

let folder: string;
let server: PostgresServer;
let control: Program;
let client: Client;
let env: Record<string, string>;
const password = randomBytes(12).toString('hex');

const startServer = (port?: number): Promise<PostgresServer> =>
  startPostgres({
    dataDir: join(folder, 'pg'),
    password,
    flags: { max_connections: '40' },
    ...(port === undefined ? {} : { port }),
  });

const startControl = async (): Promise<void> => {
  control = await startProgram('src/control/main.ts', env);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-sweep-imports-'));
  server = await startServer();
  const ports = await freePorts();
  const [publicKey, secretKey] = [`pk-${randomUUID()}`, `sk-${randomUUID()}`];
  env = {
    SVC_DATABASE_URL: server.url(),
    SVC_LISTEN: `127.0.0.1:${ports.public}`,
    SVC_HOST_LISTEN: `127.0.0.1:${ports.host}`,
    SVC_INTERNAL_LISTEN: `127.0.0.1:${ports.internal}`,
    SVC_BLOB_DIR: join(folder, 'blobs'),
    SVC_WORK_DIR: join(folder, 'work'),
    SVC_SECRET: randomBytes(32).toString('hex'),
    SVC_POOL_TOKEN: randomBytes(32).toString('hex'),
    SVC_BOOTSTRAP_PUBLIC_KEY: publicKey,
    SVC_BOOTSTRAP_SECRET_KEY: secretKey,
  };
  await startControl();
  const baseUrl = `http://127.0.0.1:${ports.public}/api/public`;
  const authorization = basicAuthorization(publicKey, secretKey);
  client = retrying(createClient({ baseUrl, authorization }), { forMs: 60_000 });
});

afterAll(async () => {
  await control.end('SIGTERM');
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the import processes that the control plane has started. */
const findImporters = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const parent = / (\d+)/.exec(
          readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '',
        );
        const isOurs = Number(parent?.[1]) === control.pid;
        return isOurs && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('import-worker');
      } catch {
        return false; // it has ended
      }
    })
    .map(Number);

const strike: Record<Case['victim'], () => Promise<void>> = {
  async 'control plane'() {
    await control.end('SIGKILL');
    await startControl();
  },
  async 'import process'() {
    for (const pid of findImporters()) signalTo(pid, 'SIGKILL');
  },
  async PostgreSQL() {
    process.kill(server.pid, 'SIGQUIT');
    await server.ended;
    server = await startServer(server.port);
  },
};

type Params = { slug: string; batchId: string };

const sendChunk = async (params: Params, ordinal: number): Promise<ChunkView> => {
  const chunk = chunks[ordinal] as Chunk;
  const { digest, rows, bytes } = chunk;
  const body = { ordinal, digest, rows, bytes: bytes.byteLength, entity: 'folders' };
  return until(
    async () => {
      const { body: registered } = await client.send(registerChunk, { params, body });
      if (registered.uploaded) return registered;
      const sent = { method: 'PUT', body: new Uint8Array(bytes) };
      const answer = await fetch(registered.uploadUrl ?? '', sent).catch(() => undefined);
      if (answer?.ok !== true) return undefined;
      const confirmed = { ...params, chunkId: registered.chunkId };
      return (await client.send(confirmChunk, { params: confirmed })).body;
    },
    { timeoutMs: 60_000, everyMs: 200, what: `chunk ${ordinal} to be sent` },
  );
};

const read = async (params: Params): Promise<BatchView> =>
  (await client.send(getBatch, { params })).body;

const finals = ['applied', 'refused', 'published', 'failed'];

/** Imports into a world of its own, and strikes at the moment; returns the resulting state of the world. */
const importInto = async (slug: string, struck?: Case) => {
  await client.send(createWorld, { body: { slug, from: encodeTree(notesWorld()) } });
  const { body: opened } = await client.send(createBatch, { params: { slug }, body: {} });
  const params = { slug, batchId: opened.batchId };
  const strikeNow = async (): Promise<void> => {
    if (struck === undefined) return;
    await pause(struck.delayMs);
    await strike[struck.victim]();
  };
  for (const ordinal of chunks.keys()) {
    await sendChunk(params, ordinal);
    if (struck?.phase === 'uploading' && ordinal === 1) await strikeNow();
  }
  for (const ordinal of chunks.keys()) {
    expect(await sendChunk(params, ordinal)).not.toHaveProperty('uploadUrl');
  }
  await client.send(completeBatch, { params });
  if (struck?.phase === 'queued') await strikeNow();
  if (struck?.phase === 'validating' || struck?.phase === 'applying') {
    const passed = [struck.phase, ...finals];
    const reached = async () => passed.includes((await read(params)).state);
    await until(reached, { timeoutMs: 60_000, everyMs: 20, what: struck.phase });
    await strikeNow();
  }
  const ended = await until(
    async () => {
      const batch = await read(params);
      return finals.includes(batch.state) && batch;
    },
    { timeoutMs: 120_000, everyMs: 100, what: 'the batch to end' },
  );
  const { version } = (await client.send(getWorld, { params: { slug } })).body;
  const { state, snapshotId, landed, refused, entityCounts } = ended;
  const { number, contentHash } = version;
  return { state, snapshotId, landed, refused, entityCounts, number, contentHash };
};

describe.runIf(cases.length > 0)('an import', () => {
  let undisturbed: Awaited<ReturnType<typeof importInto>>;

  beforeAll(async () => {
    undisturbed = await importInto('calm');
    expect(undisturbed).toMatchObject({ state: 'published', landed: { folders: 40_000 } });
  }, timeoutMs);

  it.each(cases.map((given, at) => ({ ...given, at })))(
    'creates the same version as an undisturbed import when the $victim is killed while it is $phase, $delayMs ms on ($at)',
    { timeout: timeoutMs },
    async ({ at, ...struck }) => {
      expect(await importInto(`struck-${at}`, struck)).toEqual(undisturbed);
    },
  );

  it('leaves no process and no working file behind', async () => {
    const filesLeft = (): string[] =>
      readdirSync(join(folder, 'work', 'imports')).filter((name) => name.startsWith('bat'));
    // A version is published a moment before the process that made it ends.
    await until(() => findImporters().length + filesLeft().length === 0, {
      timeoutMs: 10_000,
      what: 'no process and no file of an import',
    });
  });
});
