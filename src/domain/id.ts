/**
 * Identifiers: a three- or four-letter kind, a hyphen, 10 characters of time and 16 of chance, in
 * lower-case Crockford base 32. They sort by creation, are safe in a URL, a host name and a
 * container name, and cannot be guessed (80 random bits).
 */
import { randomBytes } from 'node:crypto';

export type IdKind =
  | 'org'
  | 'prj'
  | 'key'
  | 'wld'
  | 'ver'
  | 'upl'
  | 'con'
  | 'ses'
  | 'hst'
  | 'call'
  | 'ins'
  | 'req'
  | 'bat'
  | 'chk'
  | 'tsk';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

const encodeTime = (ms: number): string => {
  let rest = ms;
  let text = '';
  for (let i = 0; i < 10; i += 1) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
};

const encodeRandom = (length: number): string =>
  Array.from(randomBytes(length), (byte) => alphabet.charAt(byte % 32)).join('');

/** A new identifier of a kind, for example `ses-01kaz4x0pg8q2m5v7n3c1d9e6f`. */
export const newId = (kind: IdKind, nowMs: number = Date.now()): string =>
  `${kind}-${encodeTime(nowMs)}${encodeRandom(16)}`;

/** Whether a text is an identifier of a kind; one that is can stand in a host name as it is. */
export const isId = (kind: IdKind, text: string): boolean =>
  text.startsWith(`${kind}-`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(kind.length + 1));

/** A secret of 256 random bits behind a readable prefix, for example `sk-…`. */
export const newSecret = (prefix: string): string =>
  `${prefix}-${randomBytes(32).toString('base64url')}`;
