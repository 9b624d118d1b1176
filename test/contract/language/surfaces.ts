/** Corpus chapter about pages that a world serves, and deliveries that it sends. */

import { replaceIn } from '../../support/worlds/small-world.ts';
import { asItIs, connector, replace } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const surfacesRules: Chapter = {
  title: '[ui] and [webhooks]',
  rules: [
    {
      rule: '`static` is a directory inside the world that bundles keep.',
      accepts: [['a deep one', replace(connector, '"web/board"', '"web/board/pages"')]],
      refuses: [
        ['no directory', 'missing_key', replace(connector, 'static = "web/board"\n', '')],
        [
          'a directory above the tree',
          'bad_ui_path',
          replace(connector, '"web/board"', '"../web"'),
        ],
        ['an absolute directory', 'bad_ui_path', replace(connector, '"web/board"', '"/web"')],
        [
          'a directory that bundles leave out',
          'bad_ui_path',
          replace(connector, '"web/board"', '"web/dist"'),
        ],
        ['a hidden directory', 'bad_ui_path', replace(connector, '"web/board"', '".web"')],
        ['a directory of rows', 'bad_ui_path', replace(connector, '"web/board"', '"data/page"')],
        ['the whole tree', 'bad_ui_path', replace(connector, '"web/board"', '"."')],
        ['a file', 'bad_ui_path', replace(connector, '"web/board"', '"README.md"')],
      ],
    },
    {
      rule: 'A directory written by hand holds a page.',
      accepts: [
        [
          'a page',
          (w) => {
            w.text['web/board/index.html'] = '<p>';
            replaceIn(
              w,
              connector,
              'static = "web/board"',
              'static = "web/board"\ngenerated = false',
            );
          },
        ],
      ],
      refuses: [
        [
          'no page where one is written by hand',
          'missing_file',
          replace(connector, 'static = "web/board"', 'static = "web/board"\ngenerated = false'),
        ],
      ],
    },
    {
      rule: '`entry` and `api_path` are paths.',
      accepts: [
        [
          'an entry',
          replace(connector, 'static = "web/board"', 'static = "web/board"\nentry = "/cards"'),
        ],
      ],
      refuses: [
        [
          'an entry that is no path',
          'bad_value',
          replace(connector, 'static = "web/board"', 'static = "web/board"\nentry = "home"'),
        ],
        ['the root as prefix of the API', 'bad_value', replace(connector, '"/-/api"', '"/"')],
        ['a prefix that is no path', 'bad_value', replace(connector, '"/-/api"', '"api"')],
        ['a prefix that hosts keep', 'bad_value', replace(connector, '"/-/api"', '"/__svc/api"')],
        [
          'an entry that leads to another host',
          'bad_value',
          replace(connector, 'static = "web/board"', 'static = "web/board"\nentry = "//cards"'),
        ],
        [
          'an entry below the API',
          'bad_value',
          replace(
            connector,
            'static = "web/board"',
            'static = "web/board"\nentry = "/-/api/cards"',
          ),
        ],
      ],
    },
    {
      rule: 'Subscriptions are rows of an entity, with fields of fitting types.',
      accepts: [['no events, switch or scope', replace(connector, 'events = "events"\n', '')]],
      refuses: [
        [
          'an unknown entity',
          'unknown_entity',
          replace(connector, 'subscriptions = "hooks"', 'subscriptions = "hook"'),
        ],
        ['no subscriptions', 'missing_key', replace(connector, 'subscriptions = "hooks"\n', '')],
        ['an unknown field', 'unknown_field', replace(connector, '"config.url"', '"config.uri"')],
        ['a URL that is no text', 'type_mismatch', replace(connector, '"config.url"', '"active"')],
        [
          'a switch that is a text',
          'type_mismatch',
          replace(connector, 'enabled = "active"', 'enabled = "config.url"'),
        ],
        [
          'events that are neither list nor text',
          'type_mismatch',
          replace(connector, 'events = "events"', 'events = "active"'),
        ],
        [
          'a scope that is no list',
          'type_mismatch',
          replace(connector, '{ list = "lists" }', '{ list = "id" }'),
        ],
      ],
    },
    {
      rule: '`signing` is one of the schemes.',
      accepts: [
        ['scheme-d', replace(connector, '"github"', '"scheme-d"')],
        [
          'none',
          replace(
            connector,
            'secret = "config.secret"\nenabled = "active"\nscope = { list = "lists" }\nsigning = "github"',
            'signing = "none"',
          ),
        ],
      ],
      refuses: [
        [
          'an unknown scheme',
          'bad_value',
          replace(connector, 'signing = "github"', 'signing = "githup"'),
        ],
        [
          'an unknown scheme with a prefix',
          'bad_value',
          replace(connector, 'signing = "github"', 'signing = "githup"\nprefix = "acme"'),
        ],
        ['no scheme', 'missing_key', replace(connector, 'signing = "github"\n', '')],
      ],
    },
    {
      rule: 'Every scheme but `none` needs the secret.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'a scheme without secret',
          'missing_key',
          replace(connector, 'secret = "config.secret"\n', ''),
        ],
      ],
    },
    {
      rule: '`signature_header` is for `hmac-sha256` alone.',
      accepts: [
        [
          'hmac-sha256',
          replace(connector, '"github"', '"hmac-sha256"\nsignature_header = "X-Sig"'),
        ],
      ],
      refuses: [
        [
          'a plain HMAC without header',
          'missing_key',
          replace(connector, '"github"', '"hmac-sha256"'),
        ],
        [
          'a header of its own beside a vendor',
          'unexpected_key',
          replace(connector, 'signing = "github"', 'signing = "github"\nsignature_header = "X-S"'),
        ],
      ],
    },
    {
      rule: "`prefix` replaces the part of a scheme that is the vendor's.",
      accepts: [['a prefix', replace(connector, '"github"', '"github"\nprefix = "acme"')]],
      refuses: [
        [
          'a prefix without signing',
          'unexpected_key',
          replace(connector, 'signing = "github"', 'signing = "none"\nprefix = "acme"'),
        ],
        [
          'a prefix that is no part of a header name',
          'bad_value',
          replace(connector, 'signing = "github"', 'signing = "github"\nprefix = "a b"'),
        ],
      ],
    },
  ],
};
