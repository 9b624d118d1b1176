/**
 * Masks tokens and keys that the service itself issues, in texts that are shown or logged. They are found by their
 * exact form, wherever a client put them, and nothing else is changed. The form is a prefix, then 256 random bits in
 * base64url: 43 characters, of which the last has only 16 values. Text that only resembles a token, such as a slug, has
 * no capitals (one real token in five thousand million has none, either).
 *
 * No word character stands next to a token. But escapes of JSON (also of JSON within JSON), URLs and terminals end in
 * letters and digits; those do not count as word characters. A token may be percent-encoded in any part and any number
 * of times, or be a name or password in base64 after `Basic`. Other encodings are not detected: a client that
 * re-encodes a token already has the token.
 */

/** Text that replaces a token or key. */
export const mask = '***';

/** Builds the pattern of a character, plain or percent-encoded once or several times: `a`, `%61`, `%2561`. */
const spellingsOf = (character: string): string => {
  const code = character.charCodeAt(0).toString(16).padStart(2, '0');
  const digits = [...code].map((digit) => `[${digit}${digit.toUpperCase()}]`).join('');
  return `(?:\\x${code}|%(?:25)*${digits})`;
};

/** Builds the pattern of an ASCII text, with each character plain or percent-encoded. */
export const spelledOut = (text: string): string => [...text].map(spellingsOf).join('');

const encodedWordCharacter = '%(?:25)*(?:2[dD]|3\\d|[46][1-9a-fA-F]|[57][\\daA]|5[fF])';

/** Pattern of one token character (`A-Z`, `a-z`, `0-9`, `_`, `-`), plain or percent-encoded. */
export const spelledWordCharacter = `(?:[\\w-]|${encodedWordCharacter})`;

/**
 * Prefixes of tokens of sessions, secret keys, link tokens and personal access tokens, and of the secrets that `svc up`
 * makes for its programs (pool, token secret, database). The token of a host is not among them: it is the host's id and
 * a MAC.
 */
const openings = ['st-', 'sk-', 'lt-', 'pat_', 'pt-', 'ts-', 'pg-'];
const hostOpening = 'hst-';
/** Length of 256 bits in base64url, in characters. */
const macChars = 43;

const plain = new RegExp(
  `(?:(?:${openings.join('|')})|${hostOpening}[0-9a-z]{26}\\.)[\\w-]{${macChars}}(?![\\w-])`,
  'g',
);

const encoded = new RegExp(
  `(?:(?:${openings.map(spelledOut).join('|')})|` +
    `${spelledOut(hostOpening)}${spelledWordCharacter}{26}${spelledOut('.')})` +
    `${spelledWordCharacter}{${macChars}}(?!${spelledWordCharacter})`,
  'g',
);

const form = new RegExp(
  `^(?:${openings.join('|')}|${hostOpening}[0-9a-hjkmnp-tv-z]{26}\\.)` +
    `(?=[\\w-]*[A-Z])[\\w-]{${macChars - 1}}[AEIMQUYcgkosw048]$`,
);

const percent = /%(?:25)*([\da-fA-F]{2})/g;

const decode = (text: string): string =>
  text.replaceAll(percent, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/**
 * Pattern of an escape of a string or a terminal at the end of a text. A token may follow an escape, although escapes
 * end in letters and digits.
 */
const lastEscape = /(?:\\(?:[0abefnrtv]|x[\da-f]{2}|u[\da-f]{4})|\[[\d;]{0,16}m)$/i;
const lastEncoded = /%(?:25)*[\da-f]{2}$/i;
const wordCharacter = /[\w-]$/;
/** Maximum length of an escape in characters, if its percent sign is encoded a few times. */
const lookBack = 32;

/** Returns true if a token may begin directly after a text that ends like this. */
const isBoundary = (before: string): boolean => {
  if (!wordCharacter.test(before) || lastEscape.test(before)) return true;
  if (!before.includes('%')) return false;
  const last = lastEncoded.exec(before);
  if (last !== null && !wordCharacter.test(decode(last[0]))) return true;
  return lastEscape.test(decode(before));
};

const hideForms = (text: string, pattern: RegExp): string =>
  text.replaceAll(pattern, (found: string, offset: number) => {
    const token = found.includes('%') ? decode(found) : found;
    const isOne =
      form.test(token) && isBoundary(text.slice(Math.max(0, offset - lookBack), offset));
    return isOne ? mask : found;
  });

const basic = /(basic(?: |\+|%20){1,4})((?:[\w+/-]|%2[bBfF]){48,8192}(?:=|%3[dD]){0,2})/gi;

/** Masks pairs of a name and a password in base64 if the name or the password is a token. */
const hidePairs = (text: string): string =>
  text.replaceAll(basic, (found: string, scheme: string, pair: string) => {
    const decoded = Buffer.from(decode(pair), 'base64').toString('latin1');
    return mayHold(decoded) && hideForms(decoded, plain) !== decoded ? `${scheme}${mask}` : found;
  });

const mayHold = (text: string): boolean =>
  openings.some((opening) => text.includes(opening)) || text.includes(hostOpening);

/** Returns true if the text may contain a base64 pair after the scheme `Basic`, in any case of its letters. */
const mayHoldPairs = (text: string): boolean => /basic[ +%]/i.test(text);

/** Returns the text with each token and key of the service replaced by `***`. JSON text stays JSON text. */
export const hideCredentials = (text: string): string => {
  let shown = mayHold(text) ? hideForms(text, plain) : text;
  if (shown.includes('%')) shown = hideForms(shown, encoded);
  return mayHoldPairs(shown) ? hidePairs(shown) : shown;
};
