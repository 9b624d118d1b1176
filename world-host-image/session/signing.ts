/**
 * Signs a delivery like the world's vendor, so that the vendor's own verifier accepts it. Timestamps come from the
 * machine's clock, because verifiers compare them with their own clocks.
 */
import { createHmac } from 'node:crypto';
import { deliveryContentTypes } from '#domain/delivery.ts';
import type { SigningScheme, WebhooksContract } from '#language/contract.ts';

export type Unsigned = {
  id: string;
  event: string;
  /** Body exactly as it is sent. */
  body: string;
  secret: string;
  /** Time of signing, in seconds since 1970. */
  timestamp: number;
};

/** Function that returns the signature; undefined if the scheme cannot sign with the secret. */
type Sign = (unsigned: Unsigned) => string | undefined;

const hmac = (key: string | Buffer, text: string, encoding: 'hex' | 'base64'): string =>
  createHmac('sha256', key).update(text).digest(encoding);

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Returns the key that a secret of the form `whsec_<base64>` contains; undefined if it contains none. The prefix is
 * optional.
 */
const standardKey = (secret: string): Buffer | undefined => {
  const text = secret.replace(/^whsec_/, '');
  const isKey = base64.test(text) && text.replaceAll('=', '').length % 4 !== 1;
  return isKey ? Buffer.from(text, 'base64') : undefined;
};

/** Returns a scheme that signs the body with the secret unchanged. It cannot sign with an empty secret. */
const plain =
  (prefix: string): Sign =>
  ({ secret, body }) =>
    secret === '' ? undefined : `${prefix}${hmac(secret, body, 'hex')}`;

const signatures: Record<Exclude<SigningScheme, 'none'>, Sign> = {
  'standard-webhooks': ({ secret, id, timestamp, body }) => {
    const key = standardKey(secret);
    return key && `v1,${hmac(key, `${id}.${timestamp}.${body}`, 'base64')}`;
  },
  github: plain('sha256='),
  linear: plain(''),
  stripe: ({ secret, timestamp, body }) =>
    secret === '' ? undefined : `t=${timestamp},v1=${hmac(secret, `${timestamp}.${body}`, 'hex')}`,
  'hmac-sha256': plain('sha256='),
};

/** Returns the headers of a delivery whose body has the given content type; undefined if the secret cannot sign. */
export const signedHeaders = (
  { signing, headers: names }: Pick<WebhooksContract, 'signing' | 'headers'>,
  unsigned: Unsigned,
  contentType: string = deliveryContentTypes.json,
): Record<string, string> | undefined => {
  const headers: Record<string, string> = { 'content-type': contentType };
  if (signing === 'none') return headers;
  const signature = signatures[signing](unsigned);
  if (signature === undefined) return undefined;
  if (names.event !== undefined) headers[names.event] = unsigned.event;
  if (names.id !== undefined) headers[names.id] = unsigned.id;
  if (names.timestamp !== undefined) headers[names.timestamp] = String(unsigned.timestamp);
  if (names.signature !== undefined) headers[names.signature] = signature;
  return headers;
};
