/**
 * What the request ledger keeps of a value that somebody sent or was sent: bounded in size and depth,
 * and without secrets.
 *
 * Secrets are known by their names (those that sound like one, and those that the world's contract
 * gives to credentials), and by their values, where the host made them itself. What a client hides in a
 * title stays there.
 */
import type { Contract } from '#language/contract.ts';

export type Secrets = {
  /** Names of fields, headers and parameters that hold secrets, in lower case. */
  names: ReadonlySet<string>;
  /** Texts that must not be kept, wherever they stand. */
  values: readonly string[];
};

export const noSecrets: Secrets = { names: new Set(), values: [] };

/** The names that a contract itself gives to secrets, whatever they sound like. */
export const secretNamesOf = ({ api, webhooks }: Contract): ReadonlySet<string> => {
  const names = [api?.auth.name, webhooks?.secret?.at(-1)];
  return new Set(names.flatMap((name) => name?.toLowerCase() ?? []));
};

const secretName =
  /(?:token|secret|password|passwd|passphrase|authorization|cookie|api[-_]?key|private[-_]?key)$/i;

const mask = '***';

/** Of a credential, the scheme stays: how a client tried to sign in is worth knowing. */
const hide = (text: string): string => {
  const [scheme = ''] = /^(?:basic|bearer|token) /i.exec(text) ?? [];
  return text === '' ? '' : `${scheme}${mask}`;
};

/** JSON text that may have been cut off, with the values of secret-like members replaced. */
export const maskText = (text: string): string =>
  text.replace(
    /("[^"\\]{0,200}")(\s*:\s*)"(?:[^"\\]|\\.)*(?:"|$)/g,
    (member, name: string, colon: string) =>
      secretName.test(name.slice(1, -1)) ? `${name}${colon}"${mask}"` : member,
  );

/** JSON nests no deeper in the ledger. */
const deepest = 64;
const cutOff = '…';

/** A copy of what fits into so many characters, about; `left` is below 0 when not all of it does. */
const createCopier = (names: Secrets['names'], room: number) => {
  let left = room;
  const isSecret = (name: string): boolean =>
    secretName.test(name) || names.has(name.toLowerCase());

  const copyText = (text: string, hidden: boolean): string => {
    const shown = hidden ? hide(text) : text.slice(0, Math.max(0, left) + 1);
    left -= shown.length + 3;
    return shown;
  };

  const copyMembers = (value: object, depth: number, hidden: boolean): unknown => {
    if (depth === deepest) {
      left = -1;
      return cutOff;
    }
    left -= 2;
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) {
        if (left < 0) break;
        items.push(copy(item, depth + 1, hidden));
      }
      return items;
    }
    const members: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value)) {
      if (left < 0) break;
      left -= name.length + 4;
      members.push([name, copy(member, depth + 1, isSecret(name))]);
    }
    return Object.fromEntries(members);
  };

  const copy = (value: unknown, depth: number, hidden: boolean): unknown => {
    if (typeof value === 'string') return copyText(value, hidden);
    if (typeof value === 'object' && value !== null) return copyMembers(value, depth, hidden);
    left -= 5;
    return value;
  };

  return { copy: (value: unknown) => copy(value, 0, false), isWhole: () => left >= 0 };
};

const withoutValues = (json: string, values: readonly string[]): string =>
  values.reduce((text, value) => text.replaceAll(value, mask), json);

/**
 * A JSON value as the ledger shows it, as JSON text of at most `maxChars` characters and a few more. A
 * value that is longer, or nests too deep, is shown as `{truncated: true, start}`, its beginning.
 */
export const showValue = (value: unknown, maxChars: number, { names, values }: Secrets): string => {
  const copier = createCopier(names, maxChars);
  const copied = JSON.stringify(copier.copy(value) ?? null);
  const json = withoutValues(copied, values);
  if (copier.isWhole() && json.length <= maxChars) return json;
  return JSON.stringify({ truncated: true, start: json.slice(0, maxChars / 2) });
};
