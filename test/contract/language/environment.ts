/** Corpus chapter about the manifest: language, environment, engine, actions and links. */

import { replaceIn } from '../../support/worlds/small-world.ts';
import {
  append,
  asItIs,
  both,
  drop,
  environment,
  replace,
} from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const environmentRules: Chapter = {
  title: 'svc-env.toml',
  rules: [
    {
      rule: '`[schema] language` is exactly `svc-world/1`.',
      accepts: [['the small world', asItIs]],
      refuses: [
        ['no language', 'missing_key', replace(environment, 'language = "svc-world/1"', '')],

        [
          'no [schema]',
          'missing_key',
          replace(environment, '[schema]\nlanguage = "svc-world/1"', ''),
        ],
        ['another language', 'bad_value', replace(environment, 'svc-world/1', 'svc-world/2')],
      ],
    },
    {
      rule: '`[environment]`, or `[env]`, is there once.',
      accepts: [['[env]', replace(environment, '[environment]', '[env]')]],
      refuses: [
        [
          'no [environment]',
          'missing_key',
          replace(
            environment,
            '[environment]\nname = "Board"\nkind = "mock-tools"\ndb = "sqlite"\nconnector = "custom"',
            '',
          ),
        ],
        [
          '[env] and [environment]',
          'duplicate',
          append(environment, '[env]\nname = "b"\nkind = "mock-tools"\n'),
        ],
      ],
    },
    {
      rule: '`[environment] kind` is `mock-tools`.',
      accepts: [['the small world', asItIs]],
      refuses: [
        ['no kind', 'missing_key', replace(environment, 'kind = "mock-tools"\n', '')],
        ['no name', 'missing_key', replace(environment, 'name = "Board"\n', '')],
        [
          'a name that steers a terminal',
          'bad_value',
          replace(environment, '"Board"', '"\\u001B[2JBoard"'),
        ],
        ['another kind', 'bad_value', replace(environment, 'mock-tools', 'real')],
      ],
    },
    {
      rule: 'Both engines are `sqlite`, which is the default.',
      accepts: [
        [
          'no engine',
          (w) => {
            replaceIn(w, environment, 'engine = "sqlite"', '');
            replaceIn(w, environment, 'db = "sqlite"', '');
          },
        ],
      ],
      refuses: [
        [
          'another engine',
          'bad_value',
          replace(environment, 'engine = "sqlite"', 'engine = "postgres"'),
        ],
        ['another db', 'bad_value', replace(environment, 'db = "sqlite"', 'db = "postgres"')],
      ],
    },
    {
      rule: '`[db]` rules out the keys of fixed paths.',
      accepts: [['no [db]', replace(environment, '[db]\nengine = "sqlite"', '')]],
      refuses: [
        ['db.path', 'unexpected_key', replace(environment, '[db]', '[db]\npath = "x"')],
        ['db.schema', 'unexpected_key', replace(environment, '[db]', '[db]\nschema = "x"')],
        ['db.seed', 'unexpected_key', replace(environment, '[db]', '[db]\nseed = "x"')],
      ],
    },
    {
      rule: '`[tools] serve` is there.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'no serve',
          'missing_key',
          replace(
            environment,
            'serve = ["summarize", "cards.archive", "get_card", "list_cards"]',
            '',
          ),
        ],
      ],
    },
    {
      rule: 'There are no other tables.',
      accepts: [['the small world', asItIs]],
      refuses: [['an unknown table', 'unknown_key', append(environment, '[tool]\nserve = []\n')]],
    },
    {
      rule: '`on_push` runs tests, whether or not there are any yet.',
      accepts: [
        ['no action', replace(environment, '["tests"]', '[]')],
        ['tests on push before there are tests', drop('tests/test_board.py')],
      ],
      refuses: [['an unknown action', 'bad_value', replace(environment, '["tests"]', '["test"]')]],
    },
    {
      rule: '`gate` asks for tests, and there have to be some.',
      accepts: [['a gate of tests', replace(environment, 'on_push', 'gate')]],
      refuses: [
        [
          'an unknown gate',
          'bad_value',
          replace(environment, 'on_push = ["tests"]', 'gate = ["proofs"]'),
        ],
        [
          'a gate without tests',
          'missing_file',
          both(replace(environment, 'on_push', 'gate'), drop('tests/test_board.py')),
        ],
      ],
    },
    {
      rule: 'A short link is `<slug>@<ref>`.',
      accepts: [['a version', replace(environment, 'team-chat@main', 'team-chat@3')]],
      refuses: [
        [
          'a link without version',
          'bad_value',
          replace(environment, '"team-chat@main"', '"team-chat"'),
        ],
        [
          'a link to no slug',
          'bad_value',
          replace(environment, '"team-chat@main"', '"Team Chat@1"'),
        ],
        ['a link of another type', 'wrong_type', replace(environment, '"team-chat@main"', '3')],
      ],
    },
    {
      rule: 'A link by table has a pin, and no keys beyond the known ones.',
      accepts: [['only a pin', append(environment, '[dependencies.hr]\npin = "hr@1"\n')]],
      refuses: [
        ['a link without pin', 'missing_key', replace(environment, 'pin = "crm@3"\n', '')],
        [
          'an unknown key of a link',
          'unknown_key',
          replace(environment, 'task = "renew"', 'tasks = "renew"'),
        ],
        [
          'an alias with a dot',
          'bad_name',
          replace(environment, 'chat = "team', '"chat.eu" = "team'),
        ],
        [
          'a tool of a link twice',
          'duplicate',
          replace(environment, '["find_contact"]', '["find_contact", "find_contact"]'),
        ],
      ],
    },
    {
      rule: 'Linked entities are `<entity>.<field>` of this world to that of the other.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'a linked entity that is not there',
          'unknown_entity',
          replace(environment, '"cards.title"', '"card.title"'),
        ],
        [
          'a linked field that is not there',
          'unknown_field',
          replace(environment, '"cards.title"', '"cards.titel"'),
        ],
        [
          'a link of an entity without field',
          'bad_dependency',
          replace(environment, '"deals.name"', '"deals"'),
        ],
      ],
    },
  ],
};
