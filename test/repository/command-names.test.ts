/**
 * Commands in docs and messages fetch no package of an unknown publisher from the public registry.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

const texts = [
  ...globSync(['*.md', '{docs,src,charts}/**/*.{md,txt}'], { cwd: root }),
  ...globSync('{src,orchestrator,world-host-image}/**/*.ts', { cwd: root }),
].filter((path) => !path.includes('node_modules') && !path.endsWith('.test.ts'));

type Manifest = Record<'dependencies' | 'devDependencies', Record<string, string>>;
const { dependencies, devDependencies } = JSON.parse(textOf('package.json')) as Manifest;

/**
 * Packages that commands may name: those of our own manifest, and those of the publisher of the tool with that name.
 */
const known = new Set([
  ...Object.keys({ ...dependencies, ...devDependencies }),
  'pyright', // Published by Microsoft, like the tool itself.
]);

/**
 * Returns the packages from which npx gets a command: the named ones, otherwise the package with the command's name.
 */
const packagesOf = (words: string): string[] => {
  const named = [...words.matchAll(/(?:-p|--package)[ =](\S+)/g)].map(([, name = '']) => name);
  const [command = ''] = words.split(/\s+/).filter((word) => !word.startsWith('-'));
  return named.length > 0 ? named : [command];
};

describe('commands of docs and messages', () => {
  it('use npx only for known packages', () => {
    const strangers = texts.flatMap((path) =>
      [...textOf(path).matchAll(/\b(?:npx|npm exec|npm create|bunx|pnpm dlx) ([^\n`"']+)/g)]
        .flatMap(([, words = '']) => packagesOf(words))
        .filter((name) => !known.has(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(strangers).toEqual([]);
  });

  it('name a file in configurations of clients, and no package of a registry', () => {
    const asked = texts.filter((path) => /"command": "(?:npx|bunx|uvx|pipx)"/.test(textOf(path)));
    expect(asked).toEqual([]);
  });
});
