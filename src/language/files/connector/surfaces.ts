/** Keys of `[ui]` and `[webhooks]`: the page that a world serves, and the events that it sends. */
import { signingSchemes } from '../../contract.ts';
import { flag, mapOf, oneOf, text, textMatching } from '../../read/kinds.ts';
import { defaulted, described, optional, required, type TableOf } from '../../read/table.ts';

export const uiKeys = {
  static: described('Directory of the world that holds index.html.', required(text, '')),
  entry: described(
    'First page.',
    defaulted(textMatching('a path that begins with "/"', /^\/[^\s\\]*$/), '/'),
  ),
  api_path: described(
    'Same-origin prefix at which the page calls the API.',
    defaulted(
      textMatching('a path that begins with "/" and names a folder', /^(\/[^\s/?#\\]+)+$/),
      '/__world-api',
    ),
  ),
  generated: described(
    'true: compiling writes the page; false: it is written by hand; absent: written while the directory holds no page.',
    optional(flag),
  ),
};
export type UiTable = TableOf<typeof uiKeys>;

/** Vendor-neutral names of the vendors' schemes. */
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
  events: field('Field with the subscribed event types; without it, or empty, every event.'),
  secret: field('Field with the signing secret.'),
  enabled: field('Field that turns a subscription on; without it, always on.'),
  content_type: field(
    'Field that is "form" if the subscriber wants the body as a form, for vendors that offer both; without it, JSON.',
  ),
  scope: described(
    "List fields that an event's scope must be in, or that must be empty: scope to field.",
    defaulted<Map<string, string>>(mapOf(text), new Map()),
  ),
  signing: described(
    'How deliveries are signed.',
    required<(typeof signings)[number]>(oneOf(signings), 'none'),
  ),
  unsigned: described(
    'Send deliveries without a signature to subscriptions without a secret, instead of skipping them.',
    defaulted(flag, false),
  ),
  signature_header: described(
    'Header of the signature, for "hmac-sha256".',
    optional(textMatching('a header name', /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/)),
  ),
  prefix: described(
    "Replaces the vendor's part of the header names.",
    optional(
      textMatching(
        'letters, digits and inner hyphens',
        /^[A-Za-z0-9]([A-Za-z0-9-]{0,62}[A-Za-z0-9])?$/,
      ),
    ),
  ),
};
export type WebhooksTable = TableOf<typeof webhooksKeys>;
