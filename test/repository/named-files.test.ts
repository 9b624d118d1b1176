/** Comments and pages name files of this repository that exist. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));

/**
 * Endings of all paths. A comment may name a file by the end of its path, and leave out folders that its reader knows.
 */
const ends = new Set(
  files.flatMap((file) => {
    const parts = file.split('/');
    return parts.map((_, at) => parts.slice(at).join('/'));
  }),
);

/**
 * Returns true for a file about worlds or their use. Such a file also names files of users, such as `api/handlers.ts`,
 * which are not in this repository.
 */
const isOfUsers = (file: string): boolean =>
  /^(docs\/(use|write-worlds)\/|src\/(templates|author-types)\/)/.test(file);

const comments = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
const named = /(?<![\w.<*/:@#{}$-])((?:[a-z][a-z0-9_.-]*\/)*[a-z][a-z0-9_.-]*\.ts)(?![\w/*-])/g;

const textsOf = (file: string): readonly string[] => {
  const text = readFileSync(join(root, file), 'utf8');
  return file.endsWith('.md') ? [text] : (text.match(comments) ?? []);
};

it('every file that a comment or a page names exists', () => {
  const read = files.filter((file) => /\.(ts|tsx|md)$/.test(file) && !isOfUsers(file));
  const gone = read.flatMap((file) =>
    textsOf(file)
      .flatMap((text) => [...text.matchAll(named)].map(([, name = '']) => name))
      .filter((name) => !ends.has(name) && !files.includes(normalize(join(dirname(file), name))))
      .map((name) => `${file} names ${name}`),
  );
  expect(read.length).toBeGreaterThan(1_000);
  expect(gone).toEqual([]);
});
