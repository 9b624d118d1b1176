/**
 * Takes credentials out of texts. Whatever was sent to a vendor to be let in may come back, in a body, an address or
 * the message of an error; nothing of it is ever written or shown. Each secret is looked for as it is, and in the forms
 * in which requests carry it.
 */

export type Secrets = {
  /** From now on this one, too; a text of a few characters is no secret that could be told from others. */
  add(secret: string): void;
  /** The text without secrets. */
  scrub(text: string): string;
};

/** What stands in place of a secret. */
export const secretMark = '[secret]';

const fewestChars = 4;

/** Query parameters that carry credentials, whoever gave them out. */
const credentialName =
  /^(?:access_?token|refresh_?token|id_?token|auth_?token|token|api_?key|apikey|auth|authorization|client_?secret|secret|password|passwd|pwd|sig|signature|jwt|session_?id|sid|x-amz-(?:signature|security-token|credential)|x-goog-(?:signature|credential))$/i;

/** Whether a query parameter of this name carries a credential. */
export const isCredentialName = (name: string): boolean => credentialName.test(name);

const formsOf = (secret: string): string[] => {
  const base64 = Buffer.from(secret).toString('base64');
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    base64,
    base64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
  ];
};

/** Starts with some. */
export const createSecrets = (given: readonly string[] = []): Secrets => {
  let forms: string[] = [];
  const add = (secret: string): void => {
    if (secret.length < fewestChars) return;
    // The longest first: one may hold another.
    forms = [...new Set([...forms, ...formsOf(secret)])].sort((a, b) => b.length - a.length);
  };
  for (const secret of given) add(secret);
  return {
    add,
    scrub: (text) =>
      forms.reduce(
        (left, form) => (left.includes(form) ? left.split(form).join(secretMark) : left),
        text,
      ),
  };
};

const credentialHeaders = /^(?:authorization|cookie|.*(?:api-?key|token|secret|password).*)$/i;

/** What a client shows of itself is a secret from then on. */
export const learnSecrets = (headers: Readonly<Record<string, string>>, secrets: Secrets): void => {
  for (const [name, value] of Object.entries(headers)) {
    if (!credentialHeaders.test(name)) continue;
    secrets.add(value);
    const [, rest] = /^(?:bearer|basic|token)\s+(.+)$/i.exec(value) ?? [];
    if (rest !== undefined) secrets.add(rest);
    if (name !== 'cookie') continue;
    for (const pair of value.split(/;\s*/)) secrets.add(pair.slice(pair.indexOf('=') + 1));
  }
};

/** A value of JSON without secrets. */
export const scrubJson = <Value>(value: Value, secrets: Secrets): Value =>
  JSON.parse(secrets.scrub(JSON.stringify(value))) as Value;
