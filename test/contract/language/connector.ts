/** Corpus chapter about the vendor, its credential, and the form of its errors. */

import { replaceIn } from '../../support/worlds/small-world.ts';
import { asItIs, connector, drop, replace } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';
import { limitRules } from './limits.ts';

export const connectorRules: Chapter = {
  title: 'connector.toml',
  rules: [
    {
      rule: '`[connector]` is there, and knows `slug` and `base_url`.',
      accepts: [['the small world', asItIs]],
      refuses: [
        ['no slug', 'missing_key', replace(connector, 'slug = "board"\n', '')],
        [
          'no base_url',
          'missing_key',
          replace(connector, 'base_url = "https://api.board.example/v1"\n', ''),
        ],

        [
          'no [connector]',
          'missing_key',
          replace(
            connector,
            '[connector]\nslug = "board"\nbase_url = "https://api.board.example/v1"',
            '',
          ),
        ],
        [
          'an unknown key',
          'unknown_key',
          replace(connector, 'base_url', 'region = "eu"\nbase_url'),
        ],
      ],
    },
    {
      rule: '`slug` holds lowercase letters, digits and hyphens.',
      accepts: [['digits and hyphens', replace(connector, '"board"', '"board-2"')]],
      refuses: [['a slug in capitals', 'bad_value', replace(connector, '"board"', '"Board"')]],
    },
    {
      rule: '`base_url` is an http or https origin with an optional path.',
      accepts: [
        [
          'plain http, no path',
          replace(connector, 'https://api.board.example/v1', 'http://board.example:8080'),
        ],
      ],
      refuses: [
        ['a base_url with a query', 'bad_value', replace(connector, '/v1"', '/v1?a=1"')],
        ['a base_url with braces', 'bad_value', replace(connector, '/v1"', '/{v}"')],
        [
          'a base_url of more than 255 characters',
          'bad_value',
          replace(connector, '/v1"', `/${'v'.repeat(250)}"`),
        ],
        ['a base_url without host', 'bad_value', replace(connector, 'api.board.example', '')],
        ['a base_url of another scheme', 'bad_value', replace(connector, 'https:', 'ftp:')],
        ['a base_url with a fragment', 'bad_value', replace(connector, '/v1"', '/v1#a"')],
      ],
    },
    {
      rule: '`[auth] scheme` is one of six.',
      accepts: [
        [
          'no [auth]',
          replace(
            connector,
            '[auth]\nscheme = "header"\nname = "X-Api-Key"\nsecret_env = "BOARD_KEY"\nheaders = { X-Account = "BOARD_ACCOUNT" }\n',
            '',
          ),
        ],
      ],
      refuses: [
        ['no scheme', 'missing_key', replace(connector, 'scheme = "header"\n', '')],
        ['another scheme', 'bad_value', replace(connector, '"header"', '"digest"')],
      ],
    },
    {
      rule: '`name` goes with `header` and `query`, and with no other scheme.',
      accepts: [['query', replace(connector, '"header"', '"query"')]],
      refuses: [
        [
          'a header scheme without name',
          'missing_key',
          replace(connector, 'name = "X-Api-Key"\n', ''),
        ],
        [
          'a name that no header can have',
          'bad_value',
          replace(connector, '"X-Api-Key"', '"X-Api:Key"'),
        ],
        ['a bearer with a name', 'unexpected_key', replace(connector, '"header"', '"bearer"')],
      ],
    },
    {
      rule: '`secret_env` names an environment variable, and goes with every scheme but `none`.',
      accepts: [
        [
          'bearer',
          replace(connector, 'scheme = "header"\nname = "X-Api-Key"', 'scheme = "bearer"'),
        ],
      ],
      refuses: [
        [
          'a secret without a scheme',
          'unexpected_key',
          replace(connector, 'scheme = "header"\nname = "X-Api-Key"', 'scheme = "none"'),
        ],

        ['no secret_env', 'missing_key', replace(connector, 'secret_env = "BOARD_KEY"\n', '')],
        [
          'a secret in secret_env',
          'bad_value',
          replace(connector, '"BOARD_KEY"', '"s3cr3t value"'),
        ],
      ],
    },
    {
      rule: 'Extra `headers` do not repeat the one that carries the secret.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'a header name with a space',
          'bad_value',
          replace(connector, 'X-Account =', '"X Account" ='),
        ],
        [
          'a credential in a header',
          'bad_value',
          replace(connector, '"BOARD_ACCOUNT"', '"a secret"'),
        ],

        [
          'a header that carries the secret already',
          'duplicate',
          replace(connector, 'X-Account', 'x-api-key'),
        ],
        [
          'a header twice, in another case',
          'duplicate',
          replace(connector, 'X-Account =', 'x-account = "BOARD_USER", X-Account ='),
        ],
      ],
    },
    {
      rule: '`token_url`, `client_id_env` and `scope` are for `oauth2` alone.',
      accepts: [
        [
          'oauth2',
          replace(
            connector,
            'scheme = "header"\nname = "X-Api-Key"',
            'scheme = "oauth2"\nclient_id_env = "BOARD_ID"\nscope = "all"\ntoken_url = "/t"',
          ),
        ],
      ],
      refuses: [
        [
          'a scope without oauth2',
          'unexpected_key',
          replace(connector, '[auth]', '[auth]\nscope = "all"'),
        ],
        [
          'a token_url without oauth2',
          'unexpected_key',
          replace(connector, '[auth]', '[auth]\ntoken_url = "/t"'),
        ],
        [
          'a client_id_env without oauth2',
          'unexpected_key',
          replace(connector, '[auth]', '[auth]\nclient_id_env = "ID"'),
        ],
      ],
    },
    {
      rule: '`oauth2` needs `client_id_env`.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'oauth2 without client_id_env',
          'missing_key',
          replace(connector, 'scheme = "header"\nname = "X-Api-Key"', 'scheme = "oauth2"'),
        ],
      ],
    },
    {
      rule: 'Error statuses lie in 400 to 599.',
      accepts: [['599', replace(connector, '410', '599')]],
      refuses: [
        [
          'an error status',
          'bad_value',
          replace(connector, '[api]', '[api]\ninvalid_status = 200'),
        ],
        ["a route's error status", 'bad_value', replace(connector, '410', '600')],
        [
          'a status of unauthorized',
          'bad_value',
          replace(connector, '[api]', '[api]\nunauthorized_status = 399'),
        ],
        [
          'a status of not_found',
          'bad_value',
          replace(connector, '[api]', '[api]\nnot_found_status = 600'),
        ],
      ],
    },
    {
      rule: 'Bodies of errors are JSON, unless `error_content_type` says otherwise.',
      accepts: [
        [
          'XML',
          replace(
            connector,
            `not_found = '{"message":"gone"}'`,
            `not_found = '<gone/>'\nunauthorized = '<no/>'\ninvalid = ''\nerror_content_type = "text/xml"`,
          ),
        ],
      ],
      refuses: [
        [
          'a body longer than a vendor would answer',
          'bad_value',
          replace(connector, `'{"message":"gone"}'`, `'"${'x'.repeat(16_400)}"'`),
        ],
        [
          'a body of unauthorized that is not JSON',
          'bad_value',
          replace(connector, '[api]', "[api]\nunauthorized = 'no'"),
        ],
        [
          'a body of invalid that is not JSON',
          'bad_value',
          replace(connector, '[api]', "[api]\ninvalid = '{'"),
        ],

        [
          'an error body that is not JSON',
          'bad_value',
          replace(connector, `'{"message":"gone"}'`, "'<gone/>'"),
        ],
      ],
    },
    {
      rule: '`prefixes` hide no route.',
      accepts: [
        ['two of them', replace(connector, '[api]', '[api]\nprefixes = ["/api", "/api/v3"]')],
      ],
      refuses: [
        [
          'a prefix that ends with a slash',
          'bad_value',
          replace(connector, '[api]', '[api]\nprefixes = ["/api/"]'),
        ],
        [
          'a prefix with an argument',
          'bad_value',
          replace(connector, '[api]', '[api]\nprefixes = ["/{version}"]'),
        ],
        [
          'a prefix that goes up',
          'bad_value',
          replace(connector, '[api]', '[api]\nprefixes = ["/api/.."]'),
        ],
        [
          'a prefix twice',
          'duplicate',
          replace(connector, '[api]', '[api]\nprefixes = ["/api", "/api"]'),
        ],
        [
          'a prefix with which a path begins',
          'bad_value',
          replace(connector, '[api]', '[api]\nprefixes = ["/me"]'),
        ],
      ],
    },
    {
      rule: 'The module of handlers is there when a route needs it.',
      accepts: [
        [
          'another module',
          (w) => {
            w.text['api/other.py'] = w.text['api/handlers.py'] ?? '';
            replaceIn(w, connector, '[api]', '[api]\nhandlers = "api/other.py"');
          },
        ],
      ],
      refuses: [
        [
          'handlers in another language',
          'bad_value',
          replace(connector, '[api]', '[api]\nhandlers = "api/handlers.rb"'),
        ],

        ['a missing handlers module', 'missing_file', drop('api/handlers.py')],
        [
          'a handlers module in a folder that is no part of a world',
          'bad_value',
          (w) => {
            w.text['api/build/handlers.py'] = w.text['api/handlers.py'] ?? '';
            replaceIn(w, connector, '[api]', '[api]\nhandlers = "api/build/handlers.py"');
          },
        ],
        [
          'a handlers module out of the world',
          'bad_value',
          replace(connector, '[api]', '[api]\nhandlers = "../h.py"'),
        ],
      ],
    },
    {
      rule: '`token_path` is for `oauth2` alone.',
      accepts: [
        [
          'a token path',
          (w) => {
            replaceIn(w, connector, 'page_size = 50', 'page_size = 50\ntoken_path = "/t"');
            replaceIn(
              w,
              connector,
              'scheme = "header"\nname = "X-Api-Key"',
              'scheme = "oauth2"\nclient_id_env = "BOARD_ID"',
            );
          },
        ],
      ],
      refuses: [
        [
          'token_path without oauth2',
          'unexpected_key',
          replace(connector, 'page_size = 50', 'token_path = "/token"'),
        ],
      ],
    },
    {
      rule: '`before` names a function of the module.',
      accepts: [['no function', replace(connector, 'before = "check_quota"\n', '')]],
      refuses: [
        [
          'a function before routes that is not there',
          'unknown_function',
          replace(connector, '"check_quota"', '"check_quotas"'),
        ],
      ],
    },
    ...limitRules,
  ],
};
