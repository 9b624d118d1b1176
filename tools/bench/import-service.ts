/**
 * Measures imports through the command line in rows a second: 1,000,000 rows of three entities in one file, sent in
 * chunks, with a field that is stored as a digest. Also measures the memory of each program.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createWorld } from '#wire/public-api/operations.ts';
import { type Network, startNetwork } from '../../test/support/programs/network.ts';
import { encodeTree } from '../../test/support/worlds/worlds.ts';
import { treeOf } from './density.ts';
import type { Figure } from './figure.ts';
import { insertBare } from './import.ts';
import { importContract, importRows, writeImportChunks } from './import-rows.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const million = 1_000_000;
const targets = { share: 0.15, megabytes: 600 };
const lookEveryMs = 100;

const connectorToml = `[connector]
slug = "shop"
base_url = "https://shop.example"

[redact]
hash = ["email"]
`;

const manifest = `[schema]
language = "svc-world/1"

[environment]
name = "Shop"
kind = "mock-tools"

[tools]
serve = []
`;

/** Builds a world of the entities for measuring imports. */
export const shopTree = () => {
  const entities = importContract.entities.map((entity) => [
    entity.name,
    {
      schema: entity.schema,
      primary_key: entity.primaryKey,
      unique: entity.unique.map((paths) => paths.map((path) => path.join('/'))),
      relationships: entity.relationships.map((one) => ({ ...one, on_delete: 'restrict' })),
    },
  ]);
  const world = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:svc:bench:shop',
    'x-svc': {
      version: 1,
      domain_version: '1',
      package: { id: 'shop', version: '1.0.0' },
      entities: Object.fromEntries(entities),
      tools: {},
    },
  };
  const texts = {
    'schema/world.json': JSON.stringify(world),
    'svc-env.toml': manifest,
    'connector.toml': connectorToml,
  };
  return Object.entries(texts).map(([path, text]) => ({
    path,
    content: new TextEncoder().encode(text),
  }));
};

const writeFile = async (file: string): Promise<void> => {
  const out = createWriteStream(file);
  for (const { entity, row } of importRows(million)) {
    if (!out.write(`${JSON.stringify({ entity, row })}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
};

const peakOf = (pid: number): number => {
  try {
    const [, kib = '0'] =
      /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib) / 1_000;
  } catch {
    return 0; // it has ended
  }
};

/** Records the peak memory of each program: the command, the control plane, and the processes that this starts. */
const watchMemory = (pids: { command: number; control: number }) => {
  const peaks = { command: 0, control: 0, worker: 0 };
  const note = (name: keyof typeof peaks, pid: number): void => {
    peaks[name] = Math.max(peaks[name], peakOf(pid));
  };
  const timer = setInterval(() => {
    note('command', pids.command);
    note('control', pids.control);
    for (const pid of treeOf(pids.control)) if (pid !== pids.control) note('worker', pid);
  }, lookEveryMs);
  return {
    stop() {
      clearInterval(timer);
      return peaks;
    },
  };
};

const importBy = async (network: Network, file: string) => {
  const words = ['worlds', 'data', 'import', 'shop', file, '--redact', 'apply', '--json'];
  const { url, publicKey, secretKey } = network;
  const env = {
    PATH: process.env.PATH,
    HOME: join(file, '..'),
    SVC_URL: url,
    SVC_PUBLIC_KEY: publicKey,
    SVC_SECRET_KEY: secretKey,
  };
  const beganAt = performance.now();
  const child = spawn(process.execPath, [main, ...words], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const memory = watchMemory({ command: child.pid ?? 0, control: network.control.pid });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  const [status] = await once(child, 'close');
  const ms = performance.now() - beganAt;
  const peaks = memory.stop();
  if (status !== 0) throw new Error(`the import of the benchmark ended with ${status}: ${said}`);
  return { ms, peaks };
};

const figure = (name: string, parts: Partial<Figure>): Figure => ({
  name: `import.${name}`,
  value: 0,
  unit: 'MB',
  floor: null,
  peer: null,
  target: targets.megabytes,
  better: 'lower',
  ...parts,
});

/** Measures on a network of its own. The floor is SQLite by itself, with the same rows in the same run. */
export const benchImportService = async (
  databaseUrl: string,
  say: (line: string) => void,
): Promise<Figure[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-rows-'));
  const network = await startNetwork({ databaseUrl, poolSize: 1, env: { SVC_LOG_LEVEL: 'warn' } });
  try {
    await network.client.send(createWorld, {
      body: { slug: 'shop', from: encodeTree(shopTree()) },
    });
    const floor = insertBare(folder, writeImportChunks(join(folder, 'floor'), million), 'same');
    say(`  SQLite alone: ${Math.round(floor)} rows/s`);
    const file = join(folder, 'rows.jsonl');
    await writeFile(file);
    say('  from the command line');
    const { ms, peaks } = await importBy(network, file);
    return [
      figure('cli', {
        value: (million * 1_000) / ms,
        unit: 'rows/s',
        floor,
        target: targets.share * floor,
        better: 'higher',
      }),
      figure('cli.rss', { value: peaks.command }),
      figure('control.rss', { value: peaks.control }),
      figure('worker.rss', { value: peaks.worker }),
    ];
  } finally {
    await network.stop();
    await rm(folder, { recursive: true, force: true });
  }
};
