/** Corpus chapter about routes: how they are called, and what answers them. */
import { asItIs, connector, replace } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const operationsRules: Chapter = {
  title: '[[operations]]',
  rules: [
    {
      rule: 'Names are in snake_case and unique.',
      accepts: [['digits', replace(connector, 'name = "whoami"', 'name = "who_am_i2"')]],
      refuses: [
        ['no name', 'missing_key', replace(connector, 'name = "whoami"\n', '')],

        [
          'a name in capitals',
          'bad_value',
          replace(connector, 'name = "whoami"', 'name = "whoAmI"'),
        ],
        ['a name twice', 'duplicate', replace(connector, 'name = "whoami"', 'name = "close_card"')],
      ],
    },
    {
      rule: '`method` is one of five.',
      accepts: [['PUT', replace(connector, 'method = "PATCH"', 'method = "PUT"')]],
      refuses: [
        [
          'another method',
          'bad_value',
          replace(connector, 'path = "/me"', 'path = "/me"\nmethod = "TRACE"'),
        ],
      ],
    },
    {
      rule: '`path` begins with "/", and has arguments, each once.',
      accepts: [
        ['arguments', replace(connector, '"/me"', '"/me/{a}/x/{b}"')],
        ['arguments inside a segment', replace(connector, '"/me"', '"/me/{a}...{b}.json"')],
        [
          'an argument inside a segment, by which rows are filtered',
          replace(connector, '"/cards/{card_id}"', '"/cards/{card_id}.json"'),
        ],
        [
          'an argument inside a segment, which captured rows are given',
          replace(connector, '"/boards/{board_id}/lists"', '"/boards/{board_id}:lists"'),
        ],
      ],
      refuses: [
        ['no path', 'missing_key', replace(connector, 'path = "/me"\n', '')],

        ['a path without a slash', 'bad_value', replace(connector, '"/me"', '"me"')],
        ['a path with a query', 'bad_value', replace(connector, '"/me"', '"/me?x=1"')],
        ['a path that goes up', 'bad_value', replace(connector, '"/me"', '"/me/../x"')],
        ['an open argument', 'bad_value', replace(connector, '"/me"', '"/me/{a.json"')],
        ['a name that is none', 'bad_value', replace(connector, '"/me"', '"/me/{a-b}"')],
        [
          'arguments with nothing between them',
          'bad_value',
          replace(connector, '"/me"', '"/me/{a}{b}.json"'),
        ],
        ['an argument twice', 'bad_value', replace(connector, '"/me"', '"/me/{a}/{a}"')],
        [
          'a path longer than any request',
          'bad_value',
          replace(connector, '"/me"', `"/me${'/a'.repeat(500)}"`),
        ],
      ],
    },
    {
      rule: 'An argument that may hold slashes ends where a literal segment says so, or the path ends.',
      accepts: [
        ['one at the end', replace(connector, '"/me"', '"/me/{a}/{b...}"')],
        ['one in the middle', replace(connector, '"/me"', '"/me/{a...}/x/{b}"')],
      ],
      refuses: [
        ['two of them', 'bad_value', replace(connector, '"/me"', '"/me/{a...}/x/{b...}"')],
        [
          'an argument right after it',
          'bad_value',
          replace(connector, '"/me"', '"/me/{a...}/{b}"'),
        ],
        ['one with a text beside it', 'bad_value', replace(connector, '"/me"', '"/me/x{a...}"')],
      ],
    },
    {
      rule: 'A name is an argument of the path or a parameter, not both.',
      accepts: [
        [
          'a repeated parameter',
          replace(connector, 'path = "/me"', 'path = "/me/{a}"\nparams = ["b[]"]'),
        ],
      ],
      refuses: [
        [
          'a parameter that is a path argument',
          'duplicate',
          replace(connector, 'path = "/me"', 'path = "/me/{a}"\nparams = ["a"]'),
        ],
        [
          'a parameter once repeated and once not',
          'duplicate',
          replace(connector, '"state", "login"', '"ids", "state", "login"'),
        ],
      ],
    },
    {
      rule: 'No two operations answer one request.',
      accepts: [
        [
          'a literal beside an argument',
          replace(connector, 'path = "/me"', 'path = "/cards/mine"'),
        ],
      ],
      refuses: [
        [
          'two routes for one request',
          'duplicate_route',
          replace(connector, 'path = "/me"', 'path = "/cards/{id}"'),
        ],
        [
          'an argument that may hold slashes beside another one',
          'duplicate_route',
          replace(connector, 'path = "/me"', 'path = "/cards/{id...}"'),
        ],
      ],
    },
    {
      rule: 'An operation serves an entity, or has a handler.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'an unknown entity',
          'unknown_entity',
          replace(connector, 'path = "/me"', 'path = "/me"\nentity = "users"'),
        ],
        [
          'no entity',
          'missing_key',
          replace(connector, 'action = "handler"\nhandler = "who_am_i"', ''),
        ],
        ['another action', 'bad_value', replace(connector, '"delete"', '"remove"')],
        [
          'another action that would write',
          'bad_value',
          replace(connector, 'action = "create"', 'action = "insert"'),
        ],
        [
          'another action with a handler',
          'bad_value',
          replace(connector, 'action = "handler"', 'action = "handle"'),
        ],
      ],
    },
    {
      rule: '`handler` goes with the action `handler`, and names a function.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'a handler without a function',
          'missing_key',
          replace(connector, 'handler = "who_am_i"\n', ''),
        ],
        [
          'a function without a handler',
          'unexpected_key',
          replace(connector, 'action = "update"', 'action = "update"\nhandler = "who_am_i"'),
        ],
        ['an unknown function', 'unknown_function', replace(connector, '"who_am_i"', '"whoami"')],
      ],
    },
    {
      rule: '`request` and `response` of a handler name definitions.',
      accepts: [
        [
          'one of world.json, one of a sibling, and a list',
          replace(
            connector,
            'path = "/me"\n[operations.api]',
            'path = "/me"\nmethod = "POST"\n[operations.api]\nrequest = "people.json:Person"\nresponse = "Card[]"',
          ),
        ],
      ],
      refuses: [
        [
          'an unknown definition',
          'bad_reference',
          replace(connector, 'status = 203', 'status = 203\nresponse = "Crad"'),
        ],
        [
          'an unknown definition of a list',
          'bad_reference',
          replace(connector, 'status = 203', 'status = 203\nresponse = "people.json:Card[]"'),
        ],
        [
          'the body of a GET',
          'unexpected_key',
          replace(connector, 'status = 203', 'status = 203\nrequest = "Card"'),
        ],
        [
          'an answer of another action',
          'unexpected_key',
          replace(connector, 'action = "update"', 'action = "update"\nresponse = "Card"'),
        ],
      ],
    },
    {
      rule: '`media_types` and `body_types` are types without parameters, `last_modified` is a field of what GET answers.',
      accepts: [
        [
          'both of them',
          replace(
            connector,
            'status = 203',
            'status = 203\nmedia_types = ["text/x-patch", "application/vnd.board.*+json"]\nlast_modified = "dates.updated"',
          ),
        ],
      ],
      refuses: [
        [
          'a type with parameters',
          'bad_value',
          replace(connector, 'status = 203', 'status = 203\nmedia_types = ["text/html;q=1"]'),
        ],
        [
          'a type with two stars',
          'bad_value',
          replace(connector, 'status = 203', 'status = 203\nmedia_types = ["text/*.*"]'),
        ],
        [
          'types of bodies of an action that reads its own',
          'unexpected_key',
          replace(
            connector,
            'action = "update"',
            'action = "update"\nbody_types = ["application/xml"]',
          ),
        ],
        [
          'a field that is no path',
          'bad_value',
          replace(connector, 'status = 203', 'status = 203\nlast_modified = "a..b"'),
        ],
        [
          'the last change of a PATCH',
          'unexpected_key',
          replace(
            connector,
            'action = "update"',
            'action = "update"\nlast_modified = "created_at"',
          ),
        ],
      ],
    },
    {
      rule: '`body_encoding` is of handlers that take a body, which is then held to no `request`.',
      accepts: [
        [
          'bytes of any type',
          replace(
            connector,
            'path = "/me"\n[operations.api]',
            'path = "/me"\nmethod = "POST"\n[operations.api]\nbody_encoding = "base64"',
          ),
        ],
      ],
      refuses: [
        [
          'another encoding',
          'bad_value',
          replace(
            connector,
            'path = "/me"\n[operations.api]',
            'path = "/me"\nmethod = "POST"\n[operations.api]\nbody_encoding = "hex"',
          ),
        ],
        [
          'an action that reads its body itself',
          'unexpected_key',
          replace(connector, 'action = "update"', 'action = "update"\nbody_encoding = "base64"'),
        ],
        [
          'a body that is to be held to a schema',
          'unexpected_key',
          replace(
            connector,
            'path = "/me"\n[operations.api]',
            'path = "/me"\nmethod = "POST"\n[operations.api]\nbody_encoding = "base64"\nrequest = "Card"',
          ),
        ],
      ],
    },
    {
      rule: '`keep_answers` is of what handlers answer to GET.',
      accepts: [
        ['a world that keeps answers', replace(connector, 'page_size = 50', 'keep_answers = true')],
        [
          'a route that keeps none',
          replace(connector, 'status = 203', 'status = 203\nkeep_answers = false'),
        ],
      ],
      refuses: [
        [
          'a word for whether answers are kept',
          'wrong_type',
          replace(connector, 'page_size = 50', 'keep_answers = "yes"'),
        ],
        [
          'an answer to a write that is kept',
          'unexpected_key',
          replace(connector, 'action = "update"', 'action = "update"\nkeep_answers = true'),
        ],
        [
          'an answer of rows that is kept',
          'unexpected_key',
          replace(connector, 'page = "cursor"', 'page = "cursor"\nkeep_answers = true'),
        ],
      ],
    },
  ],
};
