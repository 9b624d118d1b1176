/**
 * Paths of screenshots. Those that the docs or the README show are kept in `docs/screens/`. All others go to
 * `dist/screens/`, which git ignores: they are only for review and would be most of a clone's size.
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

/** Creates the folder of a screenshot and returns the path to write it to, for example for `code-pull-light`. */
export const screenPath = (name: string): string => {
  const file = `${name}.png`;
  const folder = new URL(shownScreens.has(file) ? 'docs/screens/' : 'dist/screens/', root);
  mkdirSync(folder, { recursive: true });
  return fileURLToPath(new URL(file, folder));
};
