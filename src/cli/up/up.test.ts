/**
 * Tests that `startUp` refuses unusable folders before anything is started: with a reason, and without leaving a lock
 * or file behind.
 */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startUp } from './up.ts';

const isRoot = process.getuid?.() === 0;
if (isRoot) console.info('a folder that may not be written to is not tried: root may write to all');

describe('startUp', () => {
  let root: string;
  let data: string;
  let steps: string[];
  beforeEach(() => {
    steps = [];
    root = mkdtempSync(join(tmpdir(), 'svc-start-'));
    data = join(root, 'data');
  });
  afterEach(() => {
    chmodSync(root, 0o700);
    rmSync(root, { recursive: true, force: true });
    expect(steps).toEqual([]);
  });

  const start = (folder: string) =>
    startUp({
      ...{ data: folder, port: 0, runtime: 'process' as const, poolSize: 1, env: {} },
      signal: new AbortController().signal,
      showStep: (step) => void steps.push(step),
      say: (message) => void steps.push(message),
    });

  it('refuses a file as the data folder, and does not change it', async () => {
    writeFileSync(data, 'text');
    await expect(start(data)).rejects.toMatchObject({
      code: 'conflict',
      message: `cannot use the data folder: ${data} is a file, not a folder`,
      detail: { hint: 'choose another with --data <folder>' },
    });
    expect(readFileSync(data, 'utf8')).toBe('text');
  });

  it('refuses a folder that belongs to another program, and writes nothing into it', async () => {
    writeFileSync(join(root, 'thesis.txt'), '');
    await expect(start(root)).rejects.toThrow('already contains other files (thesis.txt)');
    expect(readdirSync(root)).toEqual(['thesis.txt']);
  });

  it('reports a full disk, and leaves no lock on it', async () => {
    mkdirSync(data);
    symlinkSync('/dev/full', join(data, 'secrets.json.new'));
    await expect(start(data)).rejects.toThrow(
      `cannot write ${join(data, 'secrets.json.new')} (ENOSPC)`,
    );
    expect(readdirSync(data).sort()).toEqual(['.gitignore', 'blobs', 'logs']);
  });

  it.skipIf(isRoot)('refuses a folder in which it must not write', async () => {
    chmodSync(root, 0o500);
    await expect(start(data)).rejects.toThrow('may not be written to (EACCES)');
    await expect(start(root)).rejects.toThrow('cannot be written to');
  });
});
