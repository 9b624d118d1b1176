/** Corpus chapter about trees: paths, sizes, and the files that a tree must have and may have. */
import { limits } from '#domain/limits.ts';
import { languageLimits } from '#language/limits.ts';
import {
  append,
  bytes,
  drop,
  environment,
  onlyModel,
  put,
  replace,
  worldFile,
} from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const treeRules: Chapter = {
  title: 'The tree',
  rules: [
    {
      rule: 'A path is relative, uses "/", and stays inside the tree.',
      accepts: [['a path of many folders', put('notes/a b/ü.md', '')]],
      refuses: [
        ['a path goes up', 'bad_path', put('../x.md', '')],
        ['a path is absolute', 'bad_path', put('/x.md', '')],
        ['a path names a drive', 'bad_path', put('C:/x.md', '')],
        ['a path has a backslash', 'bad_path', put('a\\x.md', '')],
        ['a path has a NUL', 'bad_path', put('a\0.md', '')],
        ['a path has an empty segment', 'bad_path', put('a//x.md', '')],
      ],
    },
    {
      rule: 'A path means a file on every system, and nothing that other programs take for theirs.',
      accepts: [['a file whose name begins like a device', put('console.md', '')]],
      refuses: [
        ['a path names a device of Windows', 'bad_path', put('notes/COM1.md', '')],
        ['a path names a stream of a file', 'bad_path', put('notes.md:more', '')],
        ['a name ends in a dot', 'bad_path', put('notes./x.md', '')],
        ['a path leads into the folder of Git', 'bad_path', put('.Git/config', '')],
        ['a path leads into a hidden folder', 'bad_path', put('.vscode/tasks.json', '')],
        ['a path has an invisible character', 'bad_path', put('a\u202eb.md', '')],
        ['a name is too long', 'bad_path', put(`${'x'.repeat(256)}.md`, '')],
        ['a path is too deep', 'bad_path', put(`${'a/'.repeat(32)}x.md`, '')],
      ],
    },
    {
      rule: 'No two paths are one on any file system, and no file is a folder.',
      accepts: [['paths that differ by more than case', put('README2.md', '')]],
      refuses: [
        ['paths differ by case', 'bad_path', put('readme.MD', '')],
        ['a file is a folder', 'bad_path', put('README.md/x', '')],
        [
          'folders differ by case',
          'bad_path',
          (w) => {
            w.text['Docs/a.md'] = '';
            w.text['docs/b.md'] = '';
          },
        ],
        [
          'paths that differ by the form of a letter',
          'bad_path',
          (w) => {
            w.text['e\u0301.md'] = '';
            w.text['\u00e9.md'] = '';
          },
        ],
      ],
    },
    {
      rule: 'No file is in the way of a generated one.',
      accepts: [['a file beside generated ones', put('db/notes.md', '')]],
      refuses: [
        ['a path differs from a generated one by case', 'bad_path', put('db/Schema.sql', '')],
        ['a file is the folder of generated ones', 'bad_path', put('db', '')],
      ],
    },
    {
      rule: 'Files and the whole tree are bounded.',
      accepts: [['a file as large as may be', put('big.md', ' '.repeat(limits.treeFileBytes))]],
      refuses: [
        [
          'a file is too large',
          'file_too_large',
          put('big.md', ' '.repeat(limits.treeFileBytes + 1)),
        ],
        [
          'a hand-written file is too large',
          'file_too_large',
          append(environment, `#${' '.repeat(languageLimits.authoredFileBytes)}`),
        ],
        [
          'there are too many files',
          'too_many_files',
          (w) => {
            for (let i = 0; i <= limits.treeFiles; i += 1) w.text[`notes/${i}.md`] = '';
          },
        ],
        [
          'the tree is too large',
          'tree_too_large',
          (w) => {
            for (let i = 0; i < 5; i += 1) w.text[`${i}.md`] = ' '.repeat(limits.treeBytes / 4);
          },
        ],
      ],
    },
    {
      rule: 'The manifest and the data model must be there.',
      accepts: [['no connector, rows or scenarios', onlyModel()]],
      refuses: [
        ['the manifest is missing', 'missing_file', drop(environment)],
        ['the data model is missing', 'missing_file', drop(worldFile)],
      ],
    },
    {
      rule: 'A folder of the language holds no file that nothing reads, but notes.',
      accepts: [['notes beside rows', put('data/README.md', '# Rows')]],
      refuses: [['rows in CSV', 'unsupported_file', put('data/a.csv', '')]],
    },
    {
      rule: 'Files of the language are UTF-8.',
      accepts: [
        ['letters beyond ASCII', replace(environment, 'Board', 'Büro 😀')],
        ['bytes of any kind elsewhere', put('logo.md', '\u0000')],
      ],
      refuses: [
        ['other bytes', 'not_utf8', bytes('scenarios/finish/instruction.md', [0xff, 0xfe])],
      ],
    },
  ],
};
