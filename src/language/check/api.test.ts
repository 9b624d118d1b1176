import {
  connector,
  describeRefusals,
  drop,
  type Refusal,
  replace,
  worldFile,
} from '#test/support/language-refusals.ts';

const authRules: Refusal[] = [
  [
    'no scheme',
    replace(connector, 'scheme = "header"\nname = "X-Api-Key"\nsecret_env = "BOARD_KEY"\n', ''),
    'missing_key',
    connector,
    '/auth/scheme',
  ],
  [
    'another scheme',
    replace(
      connector,
      'scheme = "header"\nname = "X-Api-Key"\nsecret_env = "BOARD_KEY"\n',
      'scheme = "digest"\n',
    ),
    'bad_value',
    connector,
    '/auth/scheme',
  ],
  [
    'a header scheme without name',
    replace(connector, 'name = "X-Api-Key"\n', ''),
    'missing_key',
    connector,
    '/auth/name',
  ],
  [
    'a bearer with a name',
    replace(connector, '"header"', '"bearer"'),
    'unexpected_key',
    connector,
    '/auth/name',
  ],
  [
    'no secret_env',
    replace(connector, 'secret_env = "BOARD_KEY"\n', ''),
    'missing_key',
    connector,
    '/auth/secret_env',
  ],
  [
    'a secret in secret_env',
    replace(connector, '"BOARD_KEY"', '"s3cr3t value"'),
    'bad_value',
    connector,
    '/auth/secret_env',
  ],
  [
    'a header that carries the secret already',
    replace(connector, 'X-Account', 'x-api-key'),
    'duplicate',
    connector,
    '/auth/headers/x-api-key',
  ],
  [
    'a scope without oauth2',
    replace(connector, '[auth]', '[auth]\nscope = "all"'),
    'unexpected_key',
    connector,
    '/auth/scope',
  ],
  [
    'a token_url without oauth2',
    replace(connector, '[auth]', '[auth]\ntoken_url = "/t"'),
    'unexpected_key',
    connector,
    '/auth/token_url',
  ],
  [
    'a client_id_env without oauth2',
    replace(connector, '[auth]', '[auth]\nclient_id_env = "ID"'),
    'unexpected_key',
    connector,
    '/auth/client_id_env',
  ],
  [
    'oauth2 without client_id_env',
    replace(connector, 'scheme = "header"\nname = "X-Api-Key"', 'scheme = "oauth2"'),
    'missing_key',
    connector,
    '/auth/client_id_env',
  ],
];

const connectorRules: Refusal[] = [
  [
    'no [connector]',
    replace(
      connector,
      '[connector]\nslug = "board"\nbase_url = "https://api.board.example/v1"',
      '',
    ),
    'missing_key',
    connector,
    '/connector',
  ],
  [
    'a slug in capitals',
    replace(connector, '"board"', '"Board"'),
    'bad_value',
    connector,
    '/connector/slug',
  ],
  [
    'a base_url with a query',
    replace(connector, '/v1"', '/v1?a=1"'),
    'bad_value',
    connector,
    '/connector/base_url',
  ],
  [
    'a base_url of another scheme',
    replace(connector, 'https:', 'ftp:'),
    'bad_value',
    connector,
    '/connector/base_url',
  ],
  [
    'an unknown key',
    replace(connector, 'base_url', 'region = "eu"\nbase_url'),
    'unknown_key',
    connector,
    '/connector/region',
  ],
  [
    'an error status',
    replace(connector, '[api]', '[api]\ninvalid_status = 200'),
    'bad_value',
    connector,
    '/api/invalid_status',
  ],
  [
    "a route's error status",
    replace(connector, '410', '600'),
    'bad_value',
    connector,
    '/operations/1/api/not_found_status',
  ],
  [
    'an error body that is not JSON',
    replace(connector, `'{"message":"gone"}'`, "'<gone/>'"),
    'bad_value',
    connector,
    '/api/not_found',
  ],
  [
    'a missing handlers module',
    drop('api/handlers.py'),
    'missing_file',
    connector,
    '/api/handlers',
  ],
  [
    'a handlers module out of the world',
    replace(connector, '[api]', '[api]\nhandlers = "../h.py"'),
    'bad_value',
    connector,
    '/api/handlers',
  ],
];

const redactRules: Refusal[] = [
  [
    'a field in two modes',
    replace(connector, 'drop = ["author.email"]', 'drop = ["login"]'),
    'two_modes',
    connector,
    '/redact/hash/0',
  ],
  [
    'a path that starts with an entity',
    replace(connector, '"author.email"', '"cards.code"'),
    'entity_path',
    connector,
    '/redact/drop/0',
  ],
  [
    'a rounded path',
    replace(connector, 'estimate = 1 }', '"a.b" = 1 }'),
    'bad_value',
    connector,
    '/redact/round/a.b',
  ],
  [
    'too many decimals',
    replace(connector, 'estimate = 1 }', 'estimate = 11 }'),
    'bad_value',
    connector,
    '/redact/round/estimate',
  ],
  [
    'a path that counts the items of a list',
    replace(connector, '"author.email"', '"labels.0.name"'),
    'bad_value',
    connector,
    '/redact/drop/0',
  ],
  [
    'a path into no field of any entity, in a world that mirrors no operations',
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
    'unknown_field',
    connector,
    '/redact/preserve/0',
  ],
  [
    'another mode',
    replace(connector, 'hash =', 'hide ='),
    'unknown_key',
    connector,
    '/redact/hide',
  ],
];

describeRefusals('[auth]', authRules);
describeRefusals('connector.toml', connectorRules);
describeRefusals('[redact]', redactRules);
