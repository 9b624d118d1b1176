import {
  connector,
  describeRefusals,
  type Refusal,
  replace,
} from '#test/support/language-refusals.ts';

const rules: Refusal[] = [
  [
    'an unknown entity',
    replace(connector, 'subscriptions = "hooks"', 'subscriptions = "hook"'),
    'unknown_entity',
    connector,
    '/webhooks/subscriptions',
  ],
  [
    'no subscriptions',
    replace(connector, 'subscriptions = "hooks"\n', ''),
    'missing_key',
    connector,
    '/webhooks/subscriptions',
  ],
  [
    'an unknown field',
    replace(connector, '"config.url"', '"config.uri"'),
    'unknown_field',
    connector,
    '/webhooks/url',
  ],
  [
    'a URL that is no text',
    replace(connector, '"config.url"', '"active"'),
    'type_mismatch',
    connector,
    '/webhooks/url',
  ],
  [
    'a switch that is a text',
    replace(connector, 'enabled = "active"', 'enabled = "config.url"'),
    'type_mismatch',
    connector,
    '/webhooks/enabled',
  ],
  [
    'events that are neither list nor text',
    replace(connector, 'events = "events"', 'events = "active"'),
    'type_mismatch',
    connector,
    '/webhooks/events',
  ],
  [
    'a scope that is no list',
    replace(connector, '{ list = "lists" }', '{ list = "id" }'),
    'type_mismatch',
    connector,
    '/webhooks/scope/list',
  ],
  [
    'an unknown scheme',
    replace(connector, 'signing = "github"', 'signing = "githup"'),
    'bad_value',
    connector,
    '/webhooks/signing',
  ],
  [
    'no scheme',
    replace(connector, 'signing = "github"\n', ''),
    'missing_key',
    connector,
    '/webhooks/signing',
  ],
  [
    'a scheme without secret',
    replace(connector, 'secret = "config.secret"\n', ''),
    'missing_key',
    connector,
    '/webhooks/secret',
  ],
  [
    'a plain HMAC without header',
    replace(connector, '"github"', '"hmac-sha256"'),
    'missing_key',
    connector,
    '/webhooks/signature_header',
  ],
  [
    'a header of its own beside a vendor',
    replace(connector, 'signing = "github"', 'signing = "github"\nsignature_header = "X-S"'),
    'unexpected_key',
    connector,
    '/webhooks/signature_header',
  ],
  [
    'a prefix without signing',
    replace(connector, 'signing = "github"', 'signing = "none"\nprefix = "acme"'),
    'unexpected_key',
    connector,
    '/webhooks/prefix',
  ],
  [
    'a prefix that is no part of a header name',
    replace(connector, 'signing = "github"', 'signing = "github"\nprefix = "a b"'),
    'bad_value',
    connector,
    '/webhooks/prefix',
  ],
];

describeRefusals('[webhooks]', rules);
