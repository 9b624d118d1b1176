/** A world of a million notes for benchmarks: imported once, bypassing the API, and used for several worlds. */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { TreeFile } from '#domain/world.ts';
import type { Contract } from '#language/contract.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import { pathOf } from '../../src/control/platform/blobs/blobs.ts';
import { runImport } from '../../src/data/import/run.ts';
import type { Network } from '../../test/support/programs/network.ts';
import { encodeTree, notesWorld } from '../../test/support/worlds/worlds.ts';

/** Number of notes, and of their folders. */
export const rows = 1_000_000;
export const folders = 1_000;
const rowsAChunk = 50_000;

/** Returns a note as JSON. */
export const noteOf = (id: number): string =>
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

/** The contract and snapshot that the worlds share. */
export type LargeWorld = {
  contract: Contract;
  /** File of the packed snapshot. */
  snapshot: string;
};

const text = (path: string, content: string) => ({
  path,
  content: new TextEncoder().encode(content),
});

const addedTo = (manifest: string): TreeFile[] =>
  notesWorld().map((file) =>
    file.path === 'svc-env.toml'
      ? text(file.path, `${new TextDecoder().decode(file.content)}${manifest}`)
      : file,
  );

const link = `
[dependencies.large]
pin = "large@1"
[dependencies.large.entities]
"notes.id" = "notes.id"
"notes.title" = "notes.title"
`;

const connector = `[connector]
slug = "notes"
base_url = "https://notes.example"

[redact]
hash = ["title"]
`;

/**
 * Trees of the worlds: `large`; `linked`, which maps fields of its notes to those of `large`; `kept`, which stores
 * digests of titles.
 */
const trees = (): [slug: string, tree: TreeFile[]][] => [
  ['large', notesWorld()],
  ['linked', addedTo(link)],
  ['kept', [...notesWorld(), text('connector.toml', connector)]],
];

/**
 * Creates the worlds, all of them over the same rows. This bypasses the control planes, so anything that they have
 * cached about these worlds is then wrong.
 */
export const makeLargeWorlds = async (network: Network, blobDir: string): Promise<LargeWorld> => {
  for (const [slug, tree] of trees()) {
    await network.client.send(createWorld, { body: { slug, from: encodeTree(tree) } });
  }
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-rows-'));
  try {
    const heads = 'id in (select head_version_id from worlds where slug = any($1))';
    const [version] = await network.sql<{ contract: Contract }>(
      `select contract from versions where ${heads}`,
      [['large']],
    );
    if (version === undefined) throw new Error('the world "large" has no version in the database');
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
    const counts = JSON.stringify(outcome.entityCounts);
    const set = 'snapshot = $2, entity_counts = $3';
    const slugs = trees().map(([slug]) => slug);
    await network.sql(`update versions set ${set} where ${heads}`, [slugs, digest, counts]);
    return { contract: version.contract, snapshot: path };
  } finally {
    await rm(folder, { recursive: true });
  }
};
