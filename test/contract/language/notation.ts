/** Corpus chapter about notation: the JSON and TOML that files may contain, and the values that a world can store. */

import {
  append,
  asItIs,
  environment,
  inCardFields,
  people,
  put,
  replace,
  scenario,
} from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const notationRules: Chapter = {
  title: 'The notation',
  rules: [
    {
      rule: 'A file of the language is valid JSON or TOML.',
      accepts: [
        [
          'comments, tables inline and lists over lines',
          append(environment, '[dependencies.hr] # c\npin = "hr@1"\ntools = [\n  "a", # c\n]\n'),
        ],
      ],
      refuses: [
        ['broken JSON', 'syntax', put('data/lists.json', '[1,')],
        ['an unexpected token', 'syntax', put('data/lists.json', '[\n  {"id": }\n]')],
        ['an empty file', 'syntax', put('data/lists.json', '')],
        ['broken TOML', 'syntax', replace(environment, '[schema]', '[schema')],
        ['a key twice in TOML', 'syntax', replace(environment, 'kind =', 'name =')],
      ],
    },
    {
      rule: 'No key is written twice in one object of a hand-written file.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'a key twice in JSON',
          'duplicate_key',
          (w) => {
            const text = JSON.stringify(w.json[people]).replace(
              '"maxLength":40',
              '"maxLength":40,"maxLength":41',
            );
            delete w.json[people];
            w.text[people] = text;
          },
        ],
      ],
    },
    {
      rule: 'Nothing is nested without end.',
      accepts: [
        [
          'sixty levels',
          inCardFields((p) => {
            let inner: object = {};
            for (let i = 0; i < 40; i += 1) inner = { not: inner };
            p.done_early = inner;
          }),
        ],
      ],
      refuses: [
        [
          'bottomless JSON',
          'too_deep',
          (w) => {
            w.text['scenarios/finish/seed/lists.json'] = '['.repeat(100_000) + ']'.repeat(100_000);
          },
        ],
      ],
    },
    {
      rule: 'Numbers keep all their digits.',
      accepts: [
        [
          'a number as long as may be',
          (w) => (w.json['data/lists.json'][1].id = Number.MAX_SAFE_INTEGER),
        ],
      ],
      refuses: [
        [
          'a number that would lose digits',
          'unsafe_number',
          (w) => {
            w.text['scenarios/finish/seed/lists.json'] =
              '[{"id": 12345678901234567890, "name": "n"}]';
          },
        ],
      ],
    },
    {
      rule: 'Values are those of JSON.',
      accepts: [
        ['a date in quotes', replace(scenario, 'id = 3', 'created_at = "2025-01-02T03:04:05Z"')],
      ],
      refuses: [
        [
          'a bare date',
          'wrong_type',
          replace(scenario, 'id = 3', 'created_at = 2025-01-02T03:04:05Z'),
        ],
      ],
    },
  ],
};
