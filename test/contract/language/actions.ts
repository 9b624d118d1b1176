/** Corpus chapter about the actions of routes: the rows that they find, and the rows that they write. */
import { asItIs, connector, replace } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const actionsRules: Chapter = {
  title: '[[operations]] on rows',
  rules: [
    {
      rule: '`update` and `delete` need a filter.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'an update without a filter',
          'missing_key',
          replace(connector, 'action = "update"\nfilter = { card_id = "id" }', 'action = "update"'),
        ],
        [
          'a delete without a filter',
          'missing_key',
          replace(connector, 'action = "delete"\nfilter = { card_id = "id" }', 'action = "delete"'),
        ],
      ],
    },
    {
      rule: '`filter` maps arguments and parameters to fields that exist.',
      accepts: [
        ['a position in a list', replace(connector, 'label = "labels"', 'label = "labels.0"')],
      ],
      refuses: [
        [
          'a filter of an unknown argument',
          'unknown_argument',
          replace(connector, '{ card_id = "id" }\nsingle', '{ card = "id" }\nsingle'),
        ],
        [
          'a filter of an unknown field',
          'unknown_field',
          replace(connector, '{ card_id = "id" }\nsingle', '{ card_id = "number" }\nsingle'),
        ],
        [
          'a filter of an unknown inner field',
          'unknown_field',
          replace(connector, '"/author/login"', '"/author/lgin"'),
        ],
        [
          'a filter into a list by name',
          'unknown_field',
          replace(connector, '"labels", title', '"labels.name", title'),
        ],
        [
          'a filter with an empty segment',
          'bad_value',
          replace(connector, '"/author/login"', '"author..login"'),
        ],
        [
          'a filter of an object',
          'type_mismatch',
          replace(connector, '"/author/login"', '"author"'),
        ],
      ],
    },
    {
      rule: '`match` says how a parameter of the filter is compared.',
      accepts: [['no match', replace(connector, ', title = "prefix"', '')]],
      refuses: [
        [
          'a match without a filter',
          'unknown_argument',
          replace(connector, 'match = { label', 'match = { lable = "equals", label'),
        ],
        ['another match', 'bad_value', replace(connector, 'title = "prefix"', 'title = "regex"')],
        [
          'a prefix of a number',
          'type_mismatch',
          replace(connector, 'title = "prefix"', 'ids = "prefix"'),
        ],
      ],
    },
    {
      rule: '`status` is 2xx.',
      accepts: [['204', replace(connector, 'status = 203', 'status = 204')]],
      refuses: [
        [
          'a status that is not 2xx',
          'bad_value',
          replace(connector, 'status = 203', 'status = 302'),
        ],
      ],
    },
    {
      rule: '`body`, `defaults` and `generate` belong to actions that write.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'a body on a read',
          'unexpected_key',
          replace(connector, 'single = true', 'body = { title = "t" }'),
        ],
        [
          'defaults on a delete',
          'unexpected_key',
          replace(
            connector,
            'action = "delete"',
            'action = "delete"\ndefaults = { state = "done" }',
          ),
        ],
        [
          'generate on a read',
          'unexpected_key',
          replace(connector, 'single = true', 'generate = { title = "uuid" }'),
        ],
      ],
    },
    {
      rule: '`body` maps fields to paths in the body.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'a body into an unknown field',
          'unknown_field',
          replace(connector, '"author.login" = "by"', '"author.name" = "by"'),
        ],
        ['a body from an empty path', 'bad_value', replace(connector, '"by"', '""')],
      ],
    },
    {
      rule: '`defaults` are values that direct fields can have.',
      accepts: [['zero', replace(connector, 'estimate = 1.5', 'estimate = 0')]],
      refuses: [
        [
          'a default that the field cannot have',
          'type_mismatch',
          replace(connector, 'state = "open"', 'state = "opened"'),
        ],
        [
          'a default of another type',
          'type_mismatch',
          replace(connector, 'state = "open"', 'state = 1'),
        ],
        [
          'a default of an inner field',
          'bad_value',
          replace(connector, 'estimate = 1.5', '"cover.url" = "u"'),
        ],
      ],
    },
    {
      rule: '`generate` fills direct fields that have no default.',
      accepts: [
        [
          'a UUID',
          replace(connector, 'created_at = "now" }', 'created_at = "now", code = "uuid" }'),
        ],
      ],
      refuses: [
        [
          'a time for a flag',
          'type_mismatch',
          replace(connector, 'id = "int"', 'done_early = "now"'),
        ],

        ['another generator', 'bad_value', replace(connector, '"now"', '"today"')],
        [
          'a generator of another type',
          'type_mismatch',
          replace(connector, 'id = "int"', 'id = "uuid"'),
        ],
        ['a default and a generator', 'duplicate', replace(connector, 'estimate = 1.5', 'id = 5')],
      ],
    },
    {
      rule: '`sample` gives values to arguments and parameters.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'a sample of no argument',
          'unknown_argument',
          replace(connector, 'sample = { card_id = 1 }', 'sample = { card = 1 }'),
        ],
        [
          'a sample that no row can match',
          'type_mismatch',
          replace(connector, 'sample = { card_id = 1 }', 'sample = { card_id = "first" }'),
        ],
      ],
    },
  ],
};
