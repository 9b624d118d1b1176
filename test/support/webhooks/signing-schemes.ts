/** The schemes by which deliveries are signed, each with the check that a receiver of its vendor makes. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { verify as verifyGithub } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';

/** A delivery as it arrives: names of headers in lower case, and the bytes of the body. */
type Arrived = { headers: Readonly<Record<string, unknown>>; body: Buffer };

type Scheme = {
  signing: string;
  secret: string;
  /** Further lines of the table `[webhooks]`. */
  more?: string;
  /** Returns true if the vendor's receiver accepts the delivery. Throws or returns false if not. */
  accepts(arrived: Arrived, secret: string): boolean | Promise<boolean>;
};

const header = ({ headers }: Arrived, name: string): string => String(headers[name]);

const isHmac = ({ body }: Arrived, secret: string, given: string): boolean => {
  const wanted = createHmac('sha256', secret).update(body).digest('hex');
  return given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted));
};

/** Body with everything that a receiver could serialise differently from the signer. */
export const hardBody = {
  title: 'Ünï 🪝 \u2028 "quoted" \\ \u0000',
  'a.b': [1, 1e21, 0.1, -0, null, true, {}],
  link: 'https://a.example/?a=b&c=%20+d',
};

export const signingSchemes = {
  'standard-webhooks': {
    signing: 'standard-webhooks',
    secret: `whsec_${Buffer.from('a key of some 24 bytes..').toString('base64')}`,
    accepts: (arrived, secret) => {
      const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
      const headers = Object.fromEntries(names.map((name) => [name, header(arrived, name)]));
      new Webhook(secret).verify(arrived.body, headers);
      return true;
    },
  },
  github: {
    signing: 'github',
    secret: 'It’s a secret',
    accepts: (arrived, secret) =>
      verifyGithub(secret, arrived.body.toString(), header(arrived, 'x-hub-signature-256')),
  },
  stripe: {
    signing: 'stripe',
    secret: 'whsec_test',
    accepts: (arrived, secret) => {
      Stripe.webhooks.constructEvent(arrived.body, header(arrived, 'stripe-signature'), secret);
      return true;
    },
  },
  linear: {
    signing: 'linear',
    secret: 'lin_wh',
    accepts: (arrived, secret) => isHmac(arrived, secret, header(arrived, 'linear-signature')),
  },
  'hmac-sha256': {
    signing: 'hmac-sha256',
    secret: 'hush',
    more: 'signature_header = "X-Sign"',
    accepts: (arrived, secret) => {
      const [, hex = ''] = header(arrived, 'x-sign').split('sha256=');
      return isHmac(arrived, secret, hex);
    },
  },
  none: {
    signing: 'none',
    secret: '',
    accepts: ({ headers }) => Object.keys(headers).every((name) => !/sign|timestamp/.test(name)),
  },
} as const satisfies Record<string, Scheme>;

/** Builds the table `[webhooks]` of a world that signs by a scheme. */
export const webhooksTable = ({ signing, more = '' }: Scheme): string => `[webhooks]
subscriptions = "hooks"
url = "url"
events = "events"
secret = "secret"
enabled = "active"
content_type = "content_type"
signing = "${signing}"
${more}
`;
