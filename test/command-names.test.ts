/** Commands that docs and messages tell people to type fetch nothing from the public registry that is a stranger's. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

const texts = [
  ...globSync(['*.md', '{docs,src,charts}/**/*.{md,txt}'], { cwd: root }),
  ...globSync('{src,orchestrator,world-host-image}/**/*.ts', { cwd: root }),
].filter((path) => !path.includes('node_modules') && !path.endsWith('.test.ts'));

type Manifest = Record<'dependencies' | 'devDependencies', Record<string, string>>;
const { dependencies, devDependencies } = JSON.parse(textOf('package.json')) as Manifest;

/** Packages of our own manifest, and those of the tool that bears the name. */
const known = new Set([
  ...Object.keys({ ...dependencies, ...devDependencies }),
  'pyright', // by Microsoft, as the tool is
]);

/** Returns the packages that npx takes a command from: the named ones, else that of the command's name. */
const packagesOf = (words: string): string[] => {
  const named = [...words.matchAll(/(?:-p|--package)[ =](\S+)/g)].map(([, name = '']) => name);
  const [command = ''] = words.split(/\s+/).filter((word) => !word.startsWith('-'));
  return named.length > 0 ? named : [command];
};

describe('commands of docs and messages', () => {
  it('are run by npx only where the package is known by its name', () => {
    const strangers = texts.flatMap((path) =>
      [...textOf(path).matchAll(/\b(?:npx|npm exec|npm create|bunx|pnpm dlx) ([^\n`"']+)/g)]
        .flatMap(([, words = '']) => packagesOf(words))
        .filter((name) => !known.has(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(strangers).toEqual([]);
  });

  it('are started by clients from files, not by a name that a registry is asked for', () => {
    const asked = texts.filter((path) => /"command": "(?:npx|bunx|uvx|pipx)"/.test(textOf(path)));
    expect(asked).toEqual([]);
  });
});
