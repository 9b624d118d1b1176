/**
 * Measures the import engine in rows a second: 1,000,000 rows of three entities with foreign keys, a unique list and a
 * field that is stored as a digest, in a process of its own whose memory is recorded. 10,000,000 rows are imported for
 * the memory alone. The floor is SQLite by itself, in the same run: the same rows into the same tables, without
 * checks.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { ImportChunk, ImportPlan } from '#data/import/plan.ts';
import type { Row } from '#language/contract.ts';
import { createTablesSql } from '#language/sql/ddl.ts';
import type { ImportLine } from '../../test/support/data/import-program.ts';
import type { Figure } from './figure.ts';
import { importContract, writeImportChunks } from './import-rows.ts';

const million = 1_000_000;
/** Targets: minimum share of the floor's rows a second, and maximum peak memory in MB. */
const targets = { share: 0.3, megabytes: 600 };

const program = fileURLToPath(
  new URL('../../test/support/data/import-program.ts', import.meta.url),
);

/** Result of a run: milliseconds until each phase was over, and its peak memory. */
type Run = { readMs: number; heldMs: number; allMs: number; peakMegabytes: number };

const runEngine = async (folder: string, chunks: readonly ImportChunk[]): Promise<Run> => {
  const plan: ImportPlan = {
    contract: importContract,
    base: null,
    chunks,
    mode: 'append',
    redact: 'apply',
    atomic: true,
    dryRun: false,
    folder: join(folder, 'out'),
  };
  const file = join(folder, 'plan.json');
  writeFileSync(file, JSON.stringify(plan));
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const appliedAt: number[] = [];
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as ImportLine;
    if (line.kind === 'progress') {
      if (line.progress.phase === 'applying') appliedAt.push(line.atMs);
      continue;
    }
    if (line.outcome.kind === 'refused') throw new Error('the rows of the benchmark were refused');
    const [readMs = 0, heldMs = 0] = appliedAt;
    return { readMs, heldMs, allMs: line.atMs, peakMegabytes: line.peakBytes / 1e6 };
  }
  throw new Error('the import of the benchmark ended without a result');
};

const settings = `
  PRAGMA journal_mode = OFF;
  PRAGMA synchronous = OFF;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA cache_size = -65536;
  PRAGMA foreign_keys = OFF;
`;

/** SQL for the tables, in two forms: those of the contract, and tables of keys and texts alone. */
const tableForms = {
  same: createTablesSql(importContract),
  bare: importContract.entities
    .map(
      ({ name }) =>
        `CREATE TABLE "${name}" (_key TEXT PRIMARY KEY NOT NULL, payload TEXT NOT NULL);`,
    )
    .join('\n'),
};

/** Returns how many rows a second SQLite inserts when they are passed to it in memory. */
export const insertBare = (
  folder: string,
  chunks: readonly ImportChunk[],
  form: keyof typeof tableForms,
): number => {
  const file = join(folder, 'floor.sqlite');
  rmSync(file, { force: true });
  const db = new DatabaseSync(file);
  let rows = 0;
  let ms = 0;
  try {
    db.exec(settings);
    db.exec(tableForms[form]);
    db.exec('BEGIN');
    for (const chunk of chunks) {
      const lines = gunzipSync(readFileSync(chunk.file)).toString().trimEnd().split('\n');
      const keyed = lines.map(
        (line) => [JSON.stringify([(JSON.parse(line) as Row).id]), line] as const,
      );
      const beganAt = performance.now();
      const insert = db.prepare(`INSERT INTO "${chunk.entity}" (_key, payload) VALUES (?, ?)`);
      for (const [key, line] of keyed) insert.run(key, line);
      ms += performance.now() - beganAt;
      rows += keyed.length;
    }
    const beganAt = performance.now();
    db.exec('COMMIT');
    return (rows * 1_000) / (ms + performance.now() - beganAt);
  } finally {
    db.close();
    rmSync(file, { force: true });
  }
};

const rate = (ms: number): number => (million * 1_000) / ms;

const figure = (name: string, parts: Partial<Figure>): Figure => ({
  name: `import.engine${name}`,
  value: 0,
  unit: 'rows/s',
  floor: null,
  peer: null,
  target: null,
  better: 'higher',
  ...parts,
});

const memoryFigure = (name: string, { peakMegabytes }: Run): Figure =>
  figure(name, {
    value: peakMegabytes,
    unit: 'MB',
    target: targets.megabytes,
    better: 'lower',
  });

/** Measures the engine's figures that `wants` selects. */
export const benchImport = async (
  wants: (name: string) => boolean,
  say: (line: string) => void,
): Promise<Figure[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-import-'));
  const figures: Figure[] = [];
  try {
    say('importing 1,000,000 rows');
    const chunks = writeImportChunks(join(folder, '1m'), million);
    const same = insertBare(folder, chunks, 'same');
    const bare = insertBare(folder, chunks, 'bare');
    say(
      `  SQLite alone: ${Math.round(same)} rows/s, into tables without indexes ${Math.round(bare)} rows/s`,
    );
    const run = await runEngine(folder, chunks);
    const { readMs, heldMs, allMs } = run;
    figures.push(
      figure('', { value: rate(allMs), floor: same, target: targets.share * same }),
      figure('.bare', { value: rate(allMs), floor: bare }),
      figure('.read', { value: rate(readMs) }),
      figure('.constraints', { value: rate(heldMs - readMs) }),
      figure('.pack', { value: rate(allMs - heldMs) }),
      memoryFigure('.rss', run),
    );
    if (wants('import.engine.rss10m')) {
      say('importing 10,000,000 rows');
      rmSync(join(folder, '1m'), { recursive: true });
      const many = writeImportChunks(join(folder, '10m'), 10 * million);
      figures.push(memoryFigure('.rss10m', await runEngine(folder, many)));
    }
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
