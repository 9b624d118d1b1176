/**
 * Durations of test files, in seconds of the clock, by their path from the root. Each run of a tier stores its figures
 * with its report in `node_modules/.cache/tests`. A fresh checkout begins with those of `test/file-times.json`, which
 * `make test-times` writes from the last run.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Tier } from '../../tiers.ts';

export type Times = Readonly<Record<string, number>>;

const root = join(import.meta.dirname, '../../..');
const cacheDir = join(root, 'node_modules/.cache/tests');
const lastTimes = join(cacheDir, 'times.json');
const committedTimes = join(root, 'test/file-times.json');

/** Returns the path of Vitest's JSON report of a tier's run. */
export const runFile = (tier: Tier): string => join(cacheDir, `${tier}.json`);

const read = (path: string): Times => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Times;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
};

/** Reads the times of all known files: those of the last runs here, else the committed ones. */
export const readTimes = (): Times => ({ ...read(committedTimes), ...read(lastTimes) });

const write = (path: string, times: Times): void => {
  const sorted = Object.entries(times).sort(([a], [b]) => (a < b ? -1 : 1));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
};

/** Stores the times of a run; they replace those of earlier runs of the same files. */
export const keepTimes = (times: Times): void => write(lastTimes, { ...read(lastTimes), ...times });

/** Writes the times of the last runs to `test/file-times.json`, without files that no longer exist. */
const commitTimes = (): void => {
  const known = Object.entries(readTimes()).filter(([file]) => existsSync(join(root, file)));
  write(committedTimes, Object.fromEntries(known));
};

if (import.meta.main) commitTimes();
