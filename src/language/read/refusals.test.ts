import { limits } from '#domain/limits.ts';
import {
  append,
  describeRefusals,
  drop,
  environment,
  people,
  put,
  type Refusal,
  replace,
  scenario,
  worldFile,
} from '#test/support/language-refusals.ts';
import { languageLimits } from '../limits.ts';

const treeRules: Refusal[] = [
  ['a path goes up', put('../x.md', ''), 'bad_path', '../x.md', ''],
  ['a path is absolute', put('/x.md', ''), 'bad_path', '/x.md', ''],
  ['a path names a drive', put('C:/x.md', ''), 'bad_path', 'C:/x.md', ''],
  ['a path has a backslash', put('a\\x.md', ''), 'bad_path', 'a\\x.md', ''],
  ['a path has a NUL', put('a\0.md', ''), 'bad_path', 'a\0.md', ''],
  ['a path has an empty segment', put('a//x.md', ''), 'bad_path', 'a//x.md', ''],
  ['paths differ by case', put('readme.MD', ''), 'bad_path', 'readme.MD', ''],
  ['a file is a folder', put('README.md/x', ''), 'bad_path', 'README.md/x', ''],
  [
    'a file is too large',
    put('big.md', ' '.repeat(limits.treeFileBytes + 1)),
    'file_too_large',
    'big.md',
    '',
  ],
  [
    'a hand-written file is too large',
    append(environment, `#${' '.repeat(languageLimits.authoredFileBytes)}`),
    'file_too_large',
    environment,
    '',
  ],
  [
    'there are too many files',
    (w) => {
      for (let i = 0; i <= limits.treeFiles; i += 1) w.text[`notes/${i}.md`] = '';
    },
    'too_many_files',
    '',
    '',
  ],
  [
    'the tree is too large',
    (w) => {
      for (let i = 0; i < 5; i += 1) w.text[`${i}.md`] = ' '.repeat(limits.treeBytes / 4);
    },
    'tree_too_large',
    '',
    '',
  ],
  ['the manifest is missing', drop(environment), 'missing_file', environment, ''],
  ['the data model is missing', drop(worldFile), 'missing_file', worldFile, ''],
  ['rows in CSV', put('data/a.csv', ''), 'unsupported_file', 'data/a.csv', ''],
];

const notationRules: Refusal[] = [
  ['broken JSON', put('data/lists.json', '[1,'), 'syntax', 'data/lists.json', ''],
  ['broken TOML', replace(environment, '[schema]', '[schema'), 'syntax', environment, ''],
  ['a key twice in TOML', replace(environment, 'kind =', 'name ='), 'syntax', environment, ''],
  [
    'a key twice in JSON',
    (w) => {
      const text = JSON.stringify(w.json[people]).replace(
        '"maxLength":40',
        '"maxLength":40,"maxLength":41',
      );
      delete w.json[people];
      w.text[people] = text;
    },
    'duplicate_key',
    people,
    '/$defs/Login/maxLength',
  ],
  [
    'bottomless JSON',
    (w) => {
      w.text['scenarios/finish/seed/lists.json'] = '['.repeat(100_000) + ']'.repeat(100_000);
    },
    'too_deep',
    'scenarios/finish/seed/lists.json',
    '',
  ],
  [
    'a number that would lose digits',
    (w) => {
      w.text['scenarios/finish/seed/lists.json'] = '[{"id": 12345678901234567890, "name": "n"}]';
    },
    'unsafe_number',
    'scenarios/finish/seed/lists.json',
    '/0/id',
  ],
  [
    'a bare date',
    replace(scenario, 'id = 3', 'created_at = 2025-01-02T03:04:05Z'),
    'wrong_type',
    scenario,
    '/grader/checks/0/where/created_at',
  ],
];

describeRefusals('the tree', treeRules);
describeRefusals('the notation', notationRules);
