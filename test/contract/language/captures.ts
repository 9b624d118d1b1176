/** Corpus chapter about the vendor's answers stored in `captures/`, which the compiler never reads. */
import type { TreeFile } from '#domain/world.ts';
import { compileTree } from '#language/compile/compile.ts';
import { matchCaptures, readCaptures } from '#language/files/capture-json.ts';
import type { Problem } from '#language/problem.ts';
import { createProblems } from '#language/read/place.ts';
import { openTree } from '#language/read/tree.ts';
import { asItIs, type Change, put } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

const capture = {
  operation: 'list_lists',
  arguments: { board_id: 7 },
  status: 200,
  body: { data: { lists: [] } },
};

const ofPage = {
  page: 2,
  last: true,
  headers: { 'content-type': 'application/json' },
  redacted: { hash: ['email'], drop: [], preserve: [], round: { lat: 2 } },
};

const captured = (folder: string, content: unknown): Change =>
  put(`captures/${folder}/first.json`, `${JSON.stringify(content, null, 2)}\n`);

const judge = (tree: readonly TreeFile[]): Problem[] => {
  const compiled = compileTree(tree);
  if (!compiled.ok) return compiled.problems;
  const problems = createProblems();
  const opened = openTree(tree, problems);
  const operations = compiled.contract.vendor?.operations ?? [];
  if (opened !== undefined) matchCaptures(readCaptures(opened), operations);
  return problems.list();
};

export const capturesRules: Chapter = {
  title: 'captures/',
  judge,
  rules: [
    {
      rule: 'A file of `captures/` is named `<operation>/<any name>.json`.',
      accepts: [['notes', put('captures/README.md', '# Of the vendor')]],
      refuses: [
        ['a file beside the folders', 'unsupported_file', put('captures/first.json', '{}')],
      ],
    },
    {
      rule: 'A capture holds an operation, arguments, a status and a body.',
      accepts: [
        ['a capture', captured('list_lists', capture)],
        ['when and where it was taken', captured('list_lists', { ...capture, url: 'https://x' })],
        ['a page of several, with headers', captured('list_lists', { ...capture, ...ofPage })],
        ['the manifest of what was asked', put('captures/manifest.jsonl', '{}')],
      ],
      refuses: [
        ['no body', 'missing_key', captured('list_lists', { ...capture, body: undefined })],
        ['a status that is none', 'bad_value', captured('list_lists', { ...capture, status: 20 })],
        ['an unknown key', 'unknown_key', captured('list_lists', { ...capture, cookies: {} })],
        [
          'arguments in a list',
          'wrong_type',
          captured('list_lists', { ...capture, arguments: [] }),
        ],
      ],
    },
    {
      rule: 'A capture is of an operation of the connector, and lies in its folder.',
      accepts: [['no captures', asItIs]],
      refuses: [
        ["another operation's folder", 'bad_capture', captured('get_card', capture)],
        [
          'an operation that is not there',
          'bad_capture',
          captured('list_list', { ...capture, operation: 'list_list' }),
        ],
      ],
    },
  ],
};
