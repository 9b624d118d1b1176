/**
 * Tokens and keys that the service itself makes, in texts that are shown or logged: they are known by
 * their exact form, wherever somebody has sent them, and replaced. Nothing else is changed.
 *
 * The form: an opening, then 256 bits in base64url, so 43 characters of which the last has only 16
 * values; text that only looks like it, such as a slug, has no capitals (one token in five thousand million
 * has none, either). Around it is no further character of a word: but escapes of JSON (also of JSON within
 * JSON), of addresses and of terminals end in letters and digits, and count as none. A token may be
 * percent-encoded in any part, any number of times, or be a name or password in base64 after `Basic`.
 * Whoever rewrites a token in another way to carry it past shows what they knew already.
 */

/** What stands in place of a secret. */
export const mask = '***';

/** A character as it is and as addresses have it, encoded once or again and again: `a`, `%61`, `%2561`. */
const spellingsOf = (character: string): string => {
  const code = character.charCodeAt(0).toString(16).padStart(2, '0');
  const digits = [...code].map((digit) => `[${digit}${digit.toUpperCase()}]`).join('');
  return `(?:\\x${code}|%(?:25)*${digits})`;
};

/** Pattern of an ASCII text in any spelling. */
export const spelledOut = (text: string): string => [...text].map(spellingsOf).join('');

const encodedWordCharacter = '%(?:25)*(?:2[dD]|3\\d|[46][1-9a-fA-F]|[57][\\daA]|5[fF])';

/** Pattern of a character of a token, in any spelling: `A-Z`, `a-z`, `0-9`, `_` and `-`. */
export const spelledWordCharacter = `(?:[\\w-]|${encodedWordCharacter})`;

/**
 * How they begin: tokens of sessions, secret keys, tokens of links and of persons, and what `svc up` makes for its programs
 * (pool, secret of tokens, database). A host's token is its id and a MAC.
 */
const openings = ['st-', 'sk-', 'lt-', 'pat_', 'pt-', 'ts-', 'pg-'];
const hostOpening = 'hst-';
/** 256 bits in base64url. */
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

/** Escapes of a string and of a terminal: a token may follow them, although they end in letters and digits. */
const lastEscape = /(?:\\(?:[0abefnrtv]|x[\da-f]{2}|u[\da-f]{4})|\[[\d;]{0,16}m)$/i;
const lastEncoded = /%(?:25)*[\da-f]{2}$/i;
const wordCharacter = /[\w-]$/;
/** The longest of those, with a percent sign that is encoded a few times. */
const lookBack = 32;

/** Whether a token may begin after this text. */
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

/** The pair of a name and a password in base64 where one of them is a token. */
const hidePairs = (text: string): string =>
  text.replaceAll(basic, (found: string, scheme: string, pair: string) => {
    const decoded = Buffer.from(decode(pair), 'base64').toString('latin1');
    return mayHold(decoded) && hideForms(decoded, plain) !== decoded ? `${scheme}${mask}` : found;
  });

const mayHold = (text: string): boolean =>
  openings.some((opening) => text.includes(opening)) || text.includes(hostOpening);

/** The scheme as programs write it. */
const mayHoldPairs = (text: string): boolean => text.includes('asic') || text.includes('ASIC');

/** The text with tokens and keys of the service replaced by `***`. JSON text stays JSON text. */
export const hideCredentials = (text: string): string => {
  let shown = mayHold(text) ? hideForms(text, plain) : text;
  if (shown.includes('%')) shown = hideForms(shown, encoded);
  return mayHoldPairs(shown) ? hidePairs(shown) : shown;
};
