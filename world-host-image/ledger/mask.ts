/**
 * What the request ledger keeps of a value that somebody sent or was sent: bounded in size and depth,
 * and without secrets.
 *
 * Secrets are known by their names (those that sound like one, and those that the world's contract
 * gives to credentials), and by their values, where the host made them itself. What a client hides in a
 * title stays there.
 */
import { mask, spelledOut, spelledWordCharacter } from '#domain/credentials.ts';
import { cut } from '#domain/cut.ts';
import type { Contract } from '#language/contract.ts';

export type Secrets = {
  /** Names of fields, headers and parameters that hold secrets, in lower case. */
  names: ReadonlySet<string>;
  /** Texts that must not be kept, wherever they stand. */
  values: readonly string[];
  /** How such texts begin, of which there is no list; they are made of `A-Z`, `a-z`, `0-9`, `_` and `-`. */
  openings: readonly string[];
};

export const noSecrets: Secrets = { names: new Set(), values: [], openings: [] };

/** The names that a contract itself gives to secrets, whatever they sound like. */
export const secretNamesOf = ({ api, webhooks }: Contract): ReadonlySet<string> => {
  const names = [api?.auth.name, webhooks?.secret?.at(-1)];
  return new Set(names.flatMap((name) => name?.toLowerCase() ?? []));
};

const secretName =
  /(?:token|secret|password|passwd|passphrase|authorization|cookie|(?:api|private|secret|access|signing)[-_]?key)\]?$/i;

/** What the names of secrets end with, anywhere: found much sooner than the names themselves. */
const secretWord =
  /token|secret|passw|passphrase|authorization|cookie|(?:api|private|access|signing)[-_]?key/i;

/** Hides a credential but for its scheme: how a client tried to sign in is worth knowing. */
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
 * Text of which no more is known than that a body was to be: JSON or a form, whole, broken or cut off.
 * The values of members that are named like secrets are replaced.
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

/** JSON nests no deeper in the ledger. */
const deepest = 64;
const cutOff = '"…"';

/** What there is to know of a member's name: its JSON text, and whether its value is a secret. */
type Name = { json: string; isSecret: boolean };

/** Whether objects inherit by a member: the API takes no answer with one, and the ledger is to be read. */
const isInheriting = (name: string, member: unknown): boolean =>
  name === '__proto__' ||
  (name === 'constructor' &&
    typeof member === 'object' &&
    member !== null &&
    Object.hasOwn(member, 'prototype'));

/** Names that are looked up once for each set of secrets; clients can make up any number of them. */
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

/** Writes as much as fits into so many characters, about; not all of it when `left` is below 0. */
const createWriter = (look: (name: string) => Name, room: number) => {
  let left = room;

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

  /** Undefined for what is no JSON. */
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

/** Secrets with some of their characters encoded; they are ASCII. */
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
 * A text, which may be JSON or an address, without the secrets that are known by their values, also
 * where they are percent-encoded.
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
 * A JSON value as the ledger shows it, as JSON text of at most `maxChars` characters and a few more. A
 * value that is longer, or nests too deep, is shown as `{truncated: true, start}`, its beginning.
 */
export const showValue = (value: unknown, maxChars: number, secrets: Secrets): string => {
  const writer = createWriter(nameLookup(secrets), maxChars);
  const json = hideValues(writer.write(value), secrets);
  if (writer.isWhole() && json.length <= maxChars) return json;
  return JSON.stringify({ truncated: true, start: cut(json, maxChars / 2) });
};

/** Brackets in JSON text of which it cannot be said at once that it does not nest too deep. */
const opening = /[[{]/g;

const nestsLittle = (json: string): boolean => {
  opening.lastIndex = 0;
  for (let found = 0; found < deepest; found += 1) if (!opening.test(json)) return true;
  return false;
};

/**
 * Whether JSON text is shown as it is: it is short and shallow, and no word in it sounds like the name
 * of a secret. Text of which it is not so may still hold none.
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

/** As `showValue`, of a value that is JSON text already. */
export const showText = (json: string, maxChars: number, secrets: Secrets): string =>
  isShownAsIs(json, maxChars, secrets) ? json : showValue(JSON.parse(json), maxChars, secrets);
