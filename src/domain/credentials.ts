/**
 * Tokens and keys that the service itself makes, in texts that are shown or logged: they are known by
 * their form, wherever somebody has sent them and however they are percent-encoded, and replaced.
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

/** Pattern of a character of a token, in any spelling: `A-Z`, `a-z`, `0-9`, `_` and `-`. */
export const spelledWordCharacter =
  '(?:[\\w-]|%(?:25)*(?:2[dD]|3\\d|[46][1-9a-fA-F]|[57][\\daA]|5[fF]))';

/** How tokens of sessions, secret keys and tokens of links begin; a host's is its id and a MAC. */
const openings = ['st-', 'sk-', 'lt-'];
/** 256 bits in base64url. */
const macChars = 43;

const plain = new RegExp(
  `(?<![\\w-])(?:${openings.join('|')})[\\w-]{${macChars}}(?![\\w-])|` +
    `(?<![\\w-])hst-[0-9a-z]{26}\\.[\\w.-]{${macChars},}`,
  'g',
);

const encoded = new RegExp(
  `(?:${openings.map(spelledOut).join('|')})${spelledWordCharacter}{${macChars}}|` +
    `${spelledOut('hst-')}${spelledWordCharacter}{26}(?:${spelledOut('.')}|${spelledWordCharacter}){${macChars + 1},}`,
  'g',
);

const mayHold = (text: string): boolean =>
  openings.some((opening) => text.includes(opening)) || text.includes('hst-');

/** The text with tokens and keys of the service replaced by `***`. JSON text stays JSON text. */
export const hideCredentials = (text: string): string => {
  const shown = mayHold(text) ? text.replaceAll(plain, mask) : text;
  return shown.includes('%') ? shown.replaceAll(encoded, mask) : shown;
};
