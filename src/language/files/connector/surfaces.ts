/** Keys of `[ui]` and `[webhooks]`: the page that a world serves, and the events that it sends. */
import { signingSchemes } from '../../contract.ts';
import { flag, mapOf, oneOf, text, textMatching } from '../../read/kinds.ts';
import { defaulted, described, optional, required, type TableOf } from '../../read/table.ts';

export const uiKeys = {
  static: described('Directory of the world that contains index.html.', required(text, '')),
  entry: described(
    'First page.',
    defaulted(textMatching('a path that begins with "/"', /^\/[^\s\\]*$/), '/'),
  ),
  api_path: described(
    "Path prefix of the page's requests to the API, which go to the page's own origin.",
    defaulted(
      textMatching('a path that begins with "/" and names a folder', /^(\/[^\s/?#\\]+)+$/),
      '/__world-api',
    ),
  ),
  generated: described(
    'true: compiling writes the page; false: the page is written by hand; absent: compiling writes the page unless the directory has one that is written by hand.',
    optional(flag),
  ),
};
export type UiTable = TableOf<typeof uiKeys>;

/** Vendor-neutral names of signing schemes, each with the scheme. */
export const neutralSchemes = {
  'scheme-a': 'standard-webhooks',
  'scheme-b': 'github',
  'scheme-c': 'linear',
  'scheme-d': 'stripe',
} as const;

const signings = [
  ...signingSchemes,
  ...(Object.keys(neutralSchemes) as (keyof typeof neutralSchemes)[]),
] as const;

const field = (about: string) => described(about, optional(text));

export const webhooksKeys = {
  subscriptions: described(
    "Entity into which the vendor's registration routes write subscriptions.",
    required(text, ''),
  ),
  url: described("Field with the receiver's URL.", required(text, '')),
  events: field(
    'Field with the subscribed event types. Without the key, or if the field is empty, the subscription gets every event.',
  ),
  secret: field('Field with the signing secret.'),
  enabled: field(
    'Field that turns a subscription on or off. Without the key, every subscription is on.',
  ),
  content_type: field(
    'Field whose value "form" requests the body as a form, for vendors that offer forms and JSON. Without the key, bodies are JSON.',
  ),
  scope: described(
    "Fields with lists of scopes: scope to field. A subscription gets an event if the list contains the event's scope, or is empty.",
    defaulted<Map<string, string>>(mapOf(text), new Map()),
  ),
  signing: described(
    'Scheme by which deliveries are signed. "scheme-a" to "scheme-d" are other names of the first four, in this order.',
    required<(typeof signings)[number]>(oneOf(signings), 'none'),
  ),
  unsigned: described(
    'Whether subscriptions without a secret get deliveries without a signature, instead of none.',
    defaulted(flag, false),
  ),
  signature_header: described(
    'Header of the signature, for "hmac-sha256".',
    optional(textMatching('a header name', /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/)),
  ),
  prefix: described(
    "Prefix of the header names, in place of the vendor's.",
    optional(
      textMatching(
        'letters, digits and inner hyphens',
        /^[A-Za-z0-9]([A-Za-z0-9-]{0,62}[A-Za-z0-9])?$/,
      ),
    ),
  ),
};
export type WebhooksTable = TableOf<typeof webhooksKeys>;
