/**
 * Takes secrets out of what the request ledger keeps: values of headers and fields whose names say
 * that they are one. Names, not values, are looked at; what a client hides in a title stays there.
 */

const secretName =
  /(?:token|secret|password|passwd|passphrase|authorization|cookie|api[-_]?key|private[-_]?key)$/i;

/** Of a credential, the scheme stays: how a client tried to sign in is worth knowing. */
const hide = (text: string): string => {
  const [scheme = ''] = /^(?:basic|bearer|token) /i.exec(text) ?? [];
  return `${scheme}***`;
};

const maskMember = ([name, value]: [string, unknown]): [string, unknown] =>
  typeof value === 'string' && value !== '' && secretName.test(name)
    ? [name, hide(value)]
    : [name, maskSecrets(value)];

/** The same for JSON text that may have been cut off, which is cheaper where it is long. */
export const maskText = (text: string): string =>
  text.replace(
    /("[^"\\]{0,200}")(\s*:\s*)"(?:[^"\\]|\\.)*(?:"|$)/g,
    (member, name: string, colon: string) =>
      secretName.test(name.slice(1, -1)) ? `${name}${colon}"***"` : member,
  );

/** A copy of a JSON value with the values of secret-like fields replaced. */
export const maskSecrets = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(maskMember));
};
