/** Links between pages lead to existing pages and headings. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { shownScreens } from '../../tools/docs/screen-path.ts';
import { isTest } from '../support/repository/imports.ts';

const root = join(import.meta.dirname, '../..');

const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((page) => page !== '' && existsSync(join(root, page)));

/** Returns the page without code blocks and code spans. */
const proseOf = (page: string): string =>
  readFileSync(join(root, page), 'utf8')
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()#]/g, ' '));

/** Returns the anchor of a heading, as code hosts generate it. */
const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (page: string): Set<string> => {
  const text = readFileSync(join(root, page), 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  return new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)));
};

/** Returns the fault of one link of a page; undefined if it is right. */
const faultOf = (page: string, link: string): string | undefined => {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : relative(root, join(root, dirname(page), path));
  if (!existsSync(join(root, target))) return `${link}: no file ${target}`;
  if (anchor === undefined || statSync(join(root, target)).isDirectory()) return undefined;
  return anchorsOf(target).has(anchor) ? undefined : `${link}: ${target} has no such heading`;
};

it('every link in messages and comments leads to an existing page', () => {
  const files = execFileSync(
    'git',
    ['ls-files', 'src', 'orchestrator', 'world-host-image', 'charts', 'images'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
    .split('\n')
    .filter((file) => /\.(ts|mts|py|sql|mjs|ya?ml|json|tpl|txt|sh)$/.test(file))
    .filter((file) => !file.startsWith('src/templates/') && existsSync(join(root, file)))
    .filter((file) => !isTest(file));
  const gone = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\bdocs\/[\w/-]+\.md/g)]
      .filter(([page]) => !existsSync(join(root, page)))
      .map(([page]) => `${file}: no page ${page}`),
  );
  expect(gone).toEqual([]);
});

it.each(pages)('every link of %s leads to an existing page and heading', (page) => {
  const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
  expect(links.flatMap((link) => faultOf(page, link) ?? [])).toEqual([]);
});

it('the pages show every picture in the repository, and no picture is unused', () => {
  const kept = execFileSync('git', ['ls-files', 'docs/screens'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)))
    .map((file) => basename(file));
  expect(new Set(kept)).toEqual(shownScreens);
});
