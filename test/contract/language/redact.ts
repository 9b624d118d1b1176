/** Corpus chapter about the redaction policy. */

import { asItIs, connector, replace, worldFile } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const redactRules: Chapter = {
  title: '[redact]',
  rules: [
    {
      rule: 'A field is in one mode.',
      accepts: [
        [
          'a name and a path',
          replace(connector, 'drop = ["author.email"]', 'drop = ["author.login"]'),
        ],
      ],
      refuses: [
        [
          'a field in two modes',
          'two_modes',
          replace(connector, 'drop = ["author.email"]', 'drop = ["login"]'),
        ],
      ],
    },
    {
      rule: 'Paths have no entity scope.',
      accepts: [['a bare name that is an entity', replace(connector, '"author.email"', '"cards"')]],
      refuses: [
        [
          'a path that starts with an entity',
          'entity_path',
          replace(connector, '"author.email"', '"cards.code"'),
        ],
      ],
    },
    {
      rule: 'A path names a field, with `*` for the items of a list.',
      accepts: [['items of a list', replace(connector, '"author.email"', '"labels.*.name"')]],
      refuses: [
        [
          'a path that counts the items of a list',
          'bad_value',
          replace(connector, '"author.email"', '"labels.0.name"'),
        ],
      ],
    },
    {
      rule: 'In a world that mirrors no operations, a path begins with a field of an entity.',
      accepts: [['a path of another world', asItIs]],
      refuses: [
        [
          'a path into no field of any entity, in a world that mirrors no operations',
          'unknown_field',
          (world) => {
            const [, rest = ''] = world.text[connector]?.split('[redact]') ?? [];
            const [policy] = rest.split('[api]');
            world.text[connector] =
              `[connector]\nslug = "board"\nbase_url = "https://x.example"\n[redact]${policy}`;
            world.json[worldFile]['x-svc'].tools = {};
            world.text['svc-env.toml'] = (world.text['svc-env.toml'] ?? '')
              .replace(/serve = .*/, 'serve = []')
              .replace(/\[\[tasks\]\][\s\S]*/, '');
            delete world.text['tasks.json'];
            delete world.text['verifiers/all_done.sql'];
          },
        ],
      ],
    },
    {
      rule: '`round` maps bare names to 0 to 10 decimals.',
      accepts: [['no decimals', replace(connector, 'estimate = 1 }', 'estimate = 0 }')]],
      refuses: [
        ['a rounded path', 'bad_value', replace(connector, 'estimate = 1 }', '"a.b" = 1 }')],
        ['too many decimals', 'bad_value', replace(connector, 'estimate = 1 }', 'estimate = 11 }')],
      ],
    },
    {
      rule: 'There are four modes.',
      accepts: [
        [
          'none of them',
          replace(
            connector,
            'hash = ["login"]\ndrop = ["author.email"]\npreserve = ["cards_of.*.code"]\nround = { estimate = 1 }',
            '',
          ),
        ],
      ],
      refuses: [['another mode', 'unknown_key', replace(connector, 'hash =', 'hide =')]],
    },
  ],
};
