/**
 * Prepares values for the request ledger: limits their size and depth, and masks secrets.
 *
 * Secrets are recognized by name: by names that sound secret, and by names that the world's contract uses for
 * credentials. Secrets that the host itself made are also recognized by value. A secret that a client hides elsewhere,
 * such as in a title, is not recognized.
 */
import { mask, spelledOut, spelledWordCharacter } from '#domain/credentials.ts';
import { cut } from '#domain/cut.ts';
import type { Contract } from '#language/contract.ts';

export type Secrets = {
  /** Names of fields, headers and parameters that hold secrets, in lower case. */
  names: ReadonlySet<string>;
  /** Secrets that must never be recorded, wherever they occur. */
  values: readonly string[];
  /**
   * Prefixes of secrets that `values` does not list one by one. Such secrets consist of `A-Z`, `a-z`, `0-9`, `_` and
   * `-`.
   */
  openings: readonly string[];
};

export const noSecrets: Secrets = { names: new Set(), values: [], openings: [] };

/** Returns the names that a contract uses for secrets, even if they do not sound secret. */
export const secretNamesOf = ({ api, webhooks }: Contract): ReadonlySet<string> => {
  const names = [api?.auth.name, webhooks?.secret?.at(-1)];
  return new Set(names.flatMap((name) => name?.toLowerCase() ?? []));
};

const secretName =
  /(?:token|secret|password|passwd|passphrase|authorization|cookie|(?:api|private|secret|access|signing)[-_]?key)\]?$/i;

/** Pattern that occurs in every secret name. It is a quick first test, much faster than `secretName`. */
const secretWord =
  /token|secret|passw|passphrase|authorization|cookie|(?:api|private|access|signing)[-_]?key/i;

/** Masks a credential but keeps its scheme, which shows how a client tried to authenticate. */
const hide = (text: string): string => {
  const [scheme = ''] = /^(?:basic|bearer|token) /i.exec(text) ?? [];
  return text === '' ? '' : `${scheme}${mask}`;
};

const holdsName = (json: string, names: Secrets['names']): boolean => {
  if (names.size === 0) return false;
  const text = json.toLowerCase();
  return [...names].some((name) => text.includes(name));
};

const jsonMember = /("[^"\\]{0,200}")(\s*:\s*)"(?:[^"\\]|\\.)*(?:"|$)/g;
const formMember = /(?<=^|[&?\s])([^&=\s"]{1,200})=[^&\s"]+/g;

/**
 * Masks the values of members with secret names in a text that is assumed to be JSON or a form. The text may be
 * malformed or cut off.
 */
export const maskText = (text: string, names: Secrets['names'] = noSecrets.names): string => {
  if (!secretWord.test(text) && !holdsName(text, names)) return text;
  const isSecret = (name: string): boolean =>
    secretName.test(name) || names.has(name.toLowerCase());
  return text
    .replace(jsonMember, (member, name: string, colon: string) =>
      isSecret(name.slice(1, -1)) ? `${name}${colon}"${mask}"` : member,
    )
    .replace(formMember, (member, name: string) => (isSecret(name) ? `${name}=${mask}` : member));
};

/** Maximum nesting of JSON in the ledger. */
const deepest = 64;
const cutOff = '"…"';

/** Facts about a member's name: its JSON text, and whether its value is a secret. */
type Name = { json: string; isSecret: boolean };

/**
 * Returns true if the member would set an object's prototype. The ledger changes the names of such members, because the
 * API that returns ledger entries rejects answers that contain them.
 */
const isInheriting = (name: string, member: unknown): boolean =>
  name === '__proto__' ||
  (name === 'constructor' &&
    typeof member === 'object' &&
    member !== null &&
    Object.hasOwn(member, 'prototype'));

/**
 * Maximum number of names that are cached for each set of secrets. It is limited because clients can invent any number
 * of names.
 */
const mostNames = 1_000;

const createNames = ({ names }: Secrets): ((name: string) => Name) => {
  const known = new Map<string, Name>();
  return (name) => {
    let found = known.get(name);
    if (found === undefined) {
      const isSecret = secretName.test(name) || names.has(name.toLowerCase());
      found = { json: JSON.stringify(name), isSecret };
      if (known.size < mostNames) known.set(name, found);
    }
    return found;
  };
};

const namesOf = new WeakMap<Secrets, (name: string) => Name>();

const nameLookup = (secrets: Secrets): ((name: string) => Name) => {
  const known = namesOf.get(secrets) ?? createNames(secrets);
  namesOf.set(secrets, known);
  return known;
};

/** Creates a writer of JSON that stops after about `budget` characters. The text is incomplete if `left` is below 0. */
const createWriter = (look: (name: string) => Name, budget: number) => {
  let left = budget;

  const writeText = (text: string, hidden: boolean): string => {
    const shown = hidden ? hide(text) : text.slice(0, Math.max(0, left) + 1);
    left -= shown.length + 3;
    return JSON.stringify(shown);
  };

  const writeItems = (items: readonly unknown[], depth: number, hidden: boolean): string => {
    let json = '';
    for (const item of items) {
      if (left < 0) break;
      json += `${json === '' ? '' : ','}${write(item, depth + 1, hidden) ?? 'null'}`;
    }
    return `[${json}]`;
  };

  const writeMembers = (value: object, depth: number): string => {
    let json = '';
    for (const [key, member] of Object.entries(value)) {
      if (left < 0) break;
      left -= key.length + 4;
      const name = look(key);
      const written = write(member, depth + 1, name.isSecret);
      const shown = isInheriting(key, member) ? `"(${key})"` : name.json;
      if (written !== undefined) json += `${json === '' ? '' : ','}${shown}:${written}`;
    }
    return `{${json}}`;
  };

  /** Returns JSON text; undefined for a value that JSON cannot represent. */
  const write = (value: unknown, depth: number, hidden: boolean): string | undefined => {
    if (typeof value === 'string') return writeText(value, hidden);
    if (typeof value !== 'object' || value === null) {
      left -= 5;
      return JSON.stringify(value);
    }
    if (depth === deepest) {
      left = -1;
      return cutOff;
    }
    left -= 2;
    return Array.isArray(value) ? writeItems(value, depth, hidden) : writeMembers(value, depth);
  };

  return {
    write: (value: unknown): string => write(value, 0, false) ?? 'null',
    isWhole: () => left >= 0,
  };
};

const patternsOf = new WeakMap<Secrets, RegExp>();

/** Returns a pattern that finds secrets even if some of their characters are percent-encoded. Secrets are ASCII. */
const encodedPattern = (secrets: Secrets): RegExp => {
  const { values, openings } = secrets;
  const known = patternsOf.get(secrets);
  if (known !== undefined) return known;
  const whole = values.map(spelledOut);
  const begun = openings.map((opening) => `${spelledOut(opening)}${spelledWordCharacter}*`);
  const pattern = new RegExp([...whole, ...begun].join('|') || '(?!)', 'g');
  patternsOf.set(secrets, pattern);
  return pattern;
};

/**
 * Masks the secrets that are known by value in a text, which may be JSON or a URL, even if they are percent-encoded.
 */
export const hideValues = (text: string, secrets: Secrets): string => {
  if (text.includes('%')) return text.replaceAll(encodedPattern(secrets), mask);
  let shown = text;
  for (const value of secrets.values) shown = shown.replaceAll(value, mask);
  for (const opening of secrets.openings) {
    if (shown.includes(opening))
      shown = shown.replaceAll(new RegExp(`${opening}[\\w-]*`, 'g'), mask);
  }
  return shown;
};

/**
 * Returns a JSON value as JSON text for the ledger, of at most about `maxChars` characters. A value that is longer or
 * nested too deep becomes `{truncated: true, start}`, where `start` is its beginning.
 */
export const showValue = (value: unknown, maxChars: number, secrets: Secrets): string => {
  const writer = createWriter(nameLookup(secrets), maxChars);
  const json = hideValues(writer.write(value), secrets);
  if (writer.isWhole() && json.length <= maxChars) return json;
  return JSON.stringify({ truncated: true, start: cut(json, maxChars / 2) });
};

/** Pattern of an opening bracket. Text with fewer than `deepest` brackets is certainly not nested too deep. */
const opening = /[[{]/g;

const nestsLittle = (json: string): boolean => {
  opening.lastIndex = 0;
  for (let found = 0; found < deepest; found += 1) if (!opening.test(json)) return true;
  return false;
};

/**
 * Returns true if JSON text can be recorded unchanged: it is short and shallow, and no word in it sounds like the name
 * of a secret. If text fails this quick test, it may still contain no secret.
 */
const isShownAsIs = (json: string, maxChars: number, secrets: Secrets): boolean =>
  json.length <= maxChars &&
  !secretWord.test(json) &&
  !json.includes('\\u') && // a name may be spelt with escapes
  !json.includes('"__proto__"') &&
  !json.includes('"constructor"') &&
  !holdsName(json, secrets.names) &&
  ![...secrets.values, ...secrets.openings].some((text) => json.includes(text)) &&
  !(json.includes('%') && hideValues(json, secrets) !== json) &&
  nestsLittle(json);

/** Returns the same as `showValue`, for a value that is already JSON text. */
export const showText = (json: string, maxChars: number, secrets: Secrets): string =>
  isShownAsIs(json, maxChars, secrets) ? json : showValue(JSON.parse(json), maxChars, secrets);
