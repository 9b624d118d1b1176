/** Corpus chapter about `[capture]`, and about rows made from captured answers. */

import { asItIs, connector, replace } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const captureRules: Chapter = {
  title: 'Capture and ingest',
  rules: [
    {
      rule: 'Paging by cursor has a parameter, and exactly one place where the cursor comes from.',
      accepts: [
        ['a header', replace(connector, 'cursor_field = "meta.next"', 'cursor_header = "X-Next"')],
        [
          'no cursor',
          replace(connector, 'cursor_param = "cursor"\ncursor_field = "meta.next"', ''),
        ],
      ],
      refuses: [
        [
          'a cursor in two places',
          'unexpected_key',
          replace(
            connector,
            'cursor_field = "meta.next"',
            'cursor_field = "meta.next"\ncursor_header = "X-Next"',
          ),
        ],
        [
          'a cursor parameter by itself',
          'missing_key',
          replace(connector, 'cursor_field = "meta.next"\n', ''),
        ],
        [
          'a cursor field by itself',
          'missing_key',
          replace(connector, 'cursor_param = "cursor"\n', ''),
        ],
        [
          'a cursor header by itself',
          'missing_key',
          replace(
            connector,
            'cursor_param = "cursor"\ncursor_field = "meta.next"',
            'cursor_header = "X-Next"',
          ),
        ],
        [
          'a cursor field that is no path',
          'bad_value',
          replace(connector, '"meta.next"', '"meta..next"'),
        ],
      ],
    },
    {
      rule: 'Pacing, timeouts and pages are positive.',
      accepts: [
        ['one a minute', replace(connector, 'requests_per_minute = 60', 'requests_per_minute = 1')],
      ],
      refuses: [
        [
          'no requests a minute',
          'bad_value',
          replace(connector, 'requests_per_minute = 60', 'requests_per_minute = 0'),
        ],
        [
          'a timeout of none',
          'bad_value',
          replace(connector, '[capture]', '[capture]\ntimeout_seconds = 0'),
        ],
        ['no pages', 'bad_value', replace(connector, 'max_pages = 3', 'max_pages = 0')],
        ['an unknown key of capture', 'unknown_key', replace(connector, 'max_pages', 'max_page')],
      ],
    },
    {
      rule: '`results` is a dotted path.',
      accepts: [['the body itself', replace(connector, '"data.lists"', '""')]],
      refuses: [
        [
          'results that are no path',
          'bad_value',
          replace(connector, '"data.lists"', '"data..lists"'),
        ],
      ],
    },
    {
      rule: 'Ingest needs an entity to put rows into.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'ingest without entity',
          'missing_key',
          replace(
            connector,
            '[[operations]]\nname = "list_lists"\npath = "/boards/{board_id}/lists"\nentity = "lists"',
            '[[operations]]\nname = "list_lists"\npath = "/boards/{board_id}/lists"',
          ),
        ],
      ],
    },
    {
      rule: '`drop` names fields of the vendor that the entity does not require.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'dropping what every row has',
          'bad_ingest',
          replace(connector, 'drop = ["color"]', 'drop = ["name"]'),
        ],
      ],
    },
    {
      rule: '`carry_args` writes an argument or parameter of the operation onto a field of the entity.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'an argument that the operation does not have',
          'unknown_argument',
          replace(connector, '{ id = "board_id" }', '{ id = "bord_id" }'),
        ],
        [
          'an argument for a field that is not there',
          'unknown_field',
          replace(connector, '{ id = "board_id" }', '{ board = "board_id" }'),
        ],
      ],
    },
    {
      rule: '`explode` takes a field, an entity, and what to carry and take.',
      accepts: [
        ['a list of names to take', replace(connector, 'take = { id = "" }', 'take = ["id"]')],
      ],
      refuses: [
        [
          'a list taken out twice',
          'bad_ingest',
          replace(connector, 'field = "hook_ids"', 'field = "/cards"'),
        ],
        [
          'an unknown entity of items',
          'unknown_entity',
          replace(
            connector,
            'field = "cards"\nentity = "cards"',
            'field = "cards"\nentity = "card"',
          ),
        ],
        [
          'items without a field',
          'missing_key',
          replace(connector, 'field = "cards"\nentity = "cards"', 'entity = "cards"'),
        ],
        [
          'carrying into a field that is not there',
          'unknown_field',
          replace(connector, '{ list_id = "id" }', '{ list = "id" }'),
        ],
        [
          'carrying from no path',
          'bad_value',
          replace(connector, '{ list_id = "id" }', '{ list_id = "" }'),
        ],
        [
          'taking a field that is not there',
          'unknown_field',
          replace(connector, 'take = { id = "" }', 'take = ["id", "name"]'),
        ],
        [
          'carrying what is taken too',
          'duplicate',
          replace(connector, '{ list_id = "id" }', '{ id = "id" }'),
        ],
      ],
    },
  ],
};
