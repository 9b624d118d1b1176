/**
 * What a client sends to the token path: parameters in the body, form-encoded or as JSON, and its own
 * credentials there or in a Basic header (RFC 6749, sections 2.3.1 and 4.4.2).
 */
import { isObject } from '#domain/json.ts';

export type TokenParameters = ReadonlyMap<string, string>;

/** Text of the answer `invalid_request`. */
export type Misread = { error: string };

export const isMisread = (value: object): value is Misread => 'error' in value;

const entriesOfForm = (text: string): [string, unknown][] => [...new URLSearchParams(text)];

const entriesOfJson = (text: string): [string, unknown][] | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? Object.entries(value) : undefined;
  } catch {
    return undefined; // the client is told that it is no JSON
  }
};

const collect = (entries: readonly [string, unknown][]): TokenParameters | Misread => {
  const parameters = new Map<string, string>();
  for (const [name, value] of entries) {
    if (value === null || value === '') continue; // the standard takes it as left out
    if (typeof value !== 'string') return { error: 'a parameter is not a text' };
    if (parameters.has(name)) return { error: 'a parameter is there twice' };
    parameters.set(name, value);
  }
  return parameters;
};

/** The parameters of a body. A body without a type is taken for a form. */
export const readParameters = (contentType: string, text: string): TokenParameters | Misread => {
  const [type = ''] = contentType.toLowerCase().split(';');
  if (/^application\/(?:[\w.-]+\+)?json$/.test(type.trim())) {
    const entries = entriesOfJson(text);
    return entries === undefined ? { error: 'the body is not a JSON object' } : collect(entries);
  }
  return ['', 'application/x-www-form-urlencoded'].includes(type.trim())
    ? collect(entriesOfForm(text))
    : { error: 'the body is neither a form nor JSON' };
};

/** A part of Basic credentials as sent and form-decoded, since not all clients encode them. */
const spellings = (part: string): string[] => {
  try {
    return [part, decodeURIComponent(part.replaceAll('+', ' '))];
  } catch {
    return [part]; // no encoded text
  }
};

const basicSecrets = (authorization: string): string[] | undefined => {
  const [, encoded] = /^basic +(\S+)$/i.exec(authorization.trim()) ?? [];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon === -1 ? [] : spellings(decoded.slice(colon + 1));
};

/** The texts that may be the client's secret; none when it did not show one. */
export const clientSecrets = (
  authorization: string,
  parameters: TokenParameters,
): string[] | Misread => {
  const inHeader = basicSecrets(authorization);
  const inBody = parameters.get('client_secret');
  if (inHeader !== undefined && inBody !== undefined) {
    return { error: 'the client shows its secret in header and body' };
  }
  return inHeader ?? (inBody === undefined ? [] : [inBody]);
};
