/**
 * Removes credentials from texts. A credential that was sent to a vendor may come back in a body, a URL or an error
 * message, and must never be written or shown. Each secret is searched for as it is, and in the encoded forms that
 * requests use.
 */

export type Secrets = {
  /**
   * Adds a secret that is removed from now on. A text of a few characters is ignored, since it could not be
   * distinguished from ordinary text.
   */
  add(secret: string): void;
  /** Returns the text without secrets. */
  scrub(text: string): string;
};

/** Text that replaces a secret. */
export const secretMark = '[secret]';

const fewestChars = 4;

/** Matches names of query parameters that usually contain credentials. */
const credentialName =
  /^(?:access_?token|refresh_?token|id_?token|auth_?token|token|api_?key|apikey|auth|authorization|client_?secret|secret|password|passwd|pwd|sig|signature|jwt|session_?id|sid|x-amz-(?:signature|security-token|credential)|x-goog-(?:signature|credential))$/i;

/** Returns true if a query parameter of this name carries a credential. */
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

/** Creates the remover of the given secrets. */
export const createSecrets = (given: readonly string[] = []): Secrets => {
  let forms: string[] = [];
  const add = (secret: string): void => {
    if (secret.length < fewestChars) return;
    // Longest first, since one form may contain another.
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

/** Adds the credentials in a client's headers to the secrets. */
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

/** Returns a JSON value without secrets. */
export const scrubJson = <Value>(value: Value, secrets: Secrets): Value =>
  JSON.parse(secrets.scrub(JSON.stringify(value))) as Value;
