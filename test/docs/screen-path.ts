/**
 * Paths of screenshots. Those that a page of the docs or the README shows are kept in `docs/screens/`; all others go to
 * `dist/screens/`, which git ignores: they are for people to look at, and would be most of a clone.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);

const pages = execFileSync('git', ['ls-files', 'README.md', 'docs/*.md'], {
  cwd: fileURLToPath(root),
  encoding: 'utf8',
})
  .split('\n')
  .filter((page) => page !== '');

/** File names of the screenshots that pages show. */
export const shownScreens: ReadonlySet<string> = new Set(
  pages.flatMap((page) => {
    const text = readFileSync(new URL(page, root), 'utf8');
    return [...text.matchAll(/screens\/([\w-]+\.png)/g)].map(([, name = '']) => name);
  }),
);

/** Returns the path to write a screenshot to, for example of `code-pull-light`; makes its folder. */
export const screenPath = (name: string): string => {
  const file = `${name}.png`;
  const folder = new URL(shownScreens.has(file) ? 'docs/screens/' : 'dist/screens/', root);
  mkdirSync(folder, { recursive: true });
  return fileURLToPath(new URL(file, folder));
};
