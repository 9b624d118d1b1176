import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolders, makeFoldersSync } from './folders.ts';

const reasonOf = (work: () => void): string => {
  try {
    work();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? '';
  }
  return '';
};

it('a folder is created with its parents, even if some exist', async () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-folders-'));
  try {
    for (let time = 0; time < 2; time += 1) {
      makeFoldersSync(join(root, 'a/b'), { mode: 0o700 });
      await makeFolders(join(root, 'c/d'));
    }
    expect(statSync(join(root, 'a/b')).mode & 0o777).toBe(0o700);
    expect(statSync(join(root, 'c/d')).isDirectory()).toBe(true);
  } finally {
    rmSync(root, { recursive: true });
  }
});

// No folder can be created there: on most machines that run containers its file system is read-only.
const top = '/sys/svc-test';

it.runIf(reasonOf(() => mkdirSync(top)) !== '')(
  'the error names the reason if a parent folder cannot be created',
  async () => {
    const reason = reasonOf(() => mkdirSync(top));
    expect(reasonOf(() => makeFoldersSync(join(top, 'a/b')))).toBe(reason);
    await expect(makeFolders(join(top, 'a/b'))).rejects.toMatchObject({ code: reason });
  },
);
