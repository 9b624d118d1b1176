/** Corpus chapter about pages of routes, and the places of their cursors. */

import { replaceIn } from '../../support/worlds/small-world.ts';
import { asItIs, connector, replace } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const pagingRules: Chapter = {
  title: 'Paging',
  rules: [
    {
      rule: '`page` is `none`, `offset` or `cursor`, of a size.',
      accepts: [
        ['offset', replace(connector, 'page = "cursor"', 'page = "offset"')],
        ['none', replace(connector, 'page = "cursor"', 'page = "none"')],
      ],
      refuses: [
        ['a kind of page', 'bad_value', replace(connector, 'page = "cursor"', 'page = "pages"')],
        ['a page size of none', 'bad_value', replace(connector, 'page_size = 50', 'page_size = 0')],
        [
          'a page size in a text',
          'wrong_type',
          replace(connector, 'page_size = 50', 'page_size = "50"'),
        ],
      ],
    },
    {
      rule: 'Only routes that list have pages.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'pages of a single object',
          'unexpected_key',
          replace(connector, 'single = true', 'single = true\npage = "offset"'),
        ],
        [
          'pages of a route that writes',
          'unexpected_key',
          replace(connector, 'action = "create"', 'action = "create"\npage = "offset"'),
        ],
      ],
    },
    {
      rule: 'A cursor has somewhere to go.',
      accepts: [
        [
          'a header',
          (w) => {
            replaceIn(w, connector, 'page = "cursor"', 'page = "cursor"\nenvelope = ""');
            replaceIn(w, connector, '{ total = "X-Total" }', '{ cursor = "X-Next" }');
          },
        ],
      ],
      refuses: [
        [
          'a cursor with nowhere to go',
          'bad_paging',
          replace(connector, 'page = "cursor"', 'page = "cursor"\nenvelope = ""'),
        ],
      ],
    },
    {
      rule: 'Parameters of paging are nothing else at the same time.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'a paging parameter that is a path argument',
          'duplicate',
          replace(
            connector,
            'page_size = 50',
            'page_size = 50\npage = "offset"\noffset_param = "board_id"',
          ),
        ],
        [
          'a paging parameter that filters',
          'duplicate',
          replace(connector, 'page_size = 50', 'cursor_param = "state"'),
        ],
        [
          'one parameter for size and start',
          'duplicate',
          replace(connector, 'page_size = 50', 'offset_param = "limit"'),
        ],
      ],
    },
    {
      rule: 'Keys of an answer are distinct, and not empty.',
      accepts: [['no count', replace(connector, 'page_size = 50', 'hits_key = ""')]],
      refuses: [
        [
          'one name for the count and the rows',
          'duplicate',
          replace(connector, 'page_size = 50', 'hits_key = "data"'),
        ],
        [
          'one name for both cursors',
          'duplicate',
          replace(connector, 'previous_key = "previous"', 'previous_key = "cursor"'),
        ],
        [
          'an empty cursor key',
          'bad_value',
          replace(connector, 'page_size = 50', 'cursor_key = ""'),
        ],
      ],
    },
    {
      rule: '`page_headers` names headers, each once.',
      accepts: [
        [
          'all three',
          replace(
            connector,
            '{ total = "X-Total" }',
            '{ total = "X-Total", cursor = "X-Next", previous = "X-Previous" }',
          ),
        ],
      ],
      refuses: [
        [
          'one header for two things',
          'duplicate',
          replace(
            connector,
            'page_headers = { total = "X-Total" }',
            'page_headers = { cursor = "X-Page", total = "x-page" }',
          ),
        ],
        [
          'an unknown page header',
          'unknown_key',
          replace(connector, 'page_headers = { total', 'page_headers = { count'),
        ],
        ['a header name with a space', 'bad_value', replace(connector, '"X-Total"', '"X Total"')],
      ],
    },
    {
      rule: '`page_links` is true or false.',
      accepts: [['true', replace(connector, 'page_size = 50', 'page_links = true')]],
      refuses: [
        [
          'page_links in a text',
          'wrong_type',
          replace(connector, 'page_size = 50', 'page_links = "yes"'),
        ],
      ],
    },
  ],
};
