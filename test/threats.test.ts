/** The list of attacks names tests that are there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** `file`: “title”, as rows of the list have it. */
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
