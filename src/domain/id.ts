/**
 * Identifiers: a kind of three or four letters, a hyphen, 10 characters of time and 16 random ones, in lower-case
 * Crockford base 32. They sort by creation, are safe in a URL, a host name and a container name, and cannot be guessed
 * (80 random bits).
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
  | 'tsk'
  | 'run'
  | 'usr'
  | 'pat'
  | 'aud'
  | 'scc'
  | 'dts'
  | 'dsi'
  | 'dsr'
  | 'anq'
  | 'ani'
  | 'tss'
  | 'fld'
  | 'fil'
  | 'bld'
  | 'mov'
  | 'ctv'
  | 'mdl'
  | 'evt'
  | 'cmt'
  | 'fcn'
  | 'cnx'
  | 'syn'
  | 'tset'
  | 'dsh';

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

/**
 * Size of a block of random bytes. Bytes are drawn in blocks, because each message between programs has an id, and
 * drawing costs more than the rest of the id.
 */
const drawnBytes = 4_096;
let drawn: Uint8Array = new Uint8Array(0);
let used = 0;

const encodeRandom = (length: number): string => {
  if (used + length > drawn.length) {
    drawn = randomBytes(drawnBytes);
    used = 0;
  }
  let text = '';
  for (const end = used + length; used < end; used += 1) {
    text += alphabet.charAt((drawn[used] as number) % 32);
  }
  return text;
};

/** Returns a new identifier of a kind, for example `ses-01kaz4x0pg8q2m5v7n3c1d9e6f`. */
export const newId = (kind: IdKind, nowMs: number = Date.now()): string =>
  `${kind}-${encodeTime(nowMs)}${encodeRandom(16)}`;

/** Returns true if a text is an identifier of the kind. An identifier can be used in a host name unchanged. */
export const isId = (kind: IdKind, text: string): boolean =>
  text.startsWith(`${kind}-`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(kind.length + 1));

/** Returns a secret of 256 random bits after a readable prefix, for example `sk-…`. */
export const newSecret = (prefix: string, separator: '-' | '_' = '-'): string =>
  `${prefix}${separator}${randomBytes(32).toString('base64url')}`;
