/** The list of attacks names only existing tests. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** `file`: “title”, as the rows of the list write it. */
const named = [
  ...readFileSync(join(root, 'docs/internals/threats.md'), 'utf8').matchAll(
    /`([\w./-]+\.ts)`: “([^”]+)”/g,
  ),
].map(([, file = '', title = '']) => ({ file, title }));

it('the list of attacks names tests', () => {
  expect(named.length).toBeGreaterThan(50);
});

it.each(named)('$file has “$title”', ({ file, title }) => {
  const path = join(root, file);
  expect(existsSync(path), file).toBe(true);
  expect(readFileSync(path, 'utf8')).toContain(title);
});
