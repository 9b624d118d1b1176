/**
 * Reads requests to the token path: parameters in the body, form-encoded or as JSON, and the client's credentials in
 * the body or in a Basic header (RFC 6749, sections 2.3.1 and 4.4.2).
 */
import { isObject } from '#domain/json.ts';

export type TokenParameters = ReadonlyMap<string, string>;

/** Description for the answer `invalid_request`. */
export type Misread = { error: string };

export const isMisread = (value: object): value is Misread => 'error' in value;

const entriesOfForm = (text: string): [string, unknown][] => [...new URLSearchParams(text)];

const entriesOfJson = (text: string): [string, unknown][] | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? Object.entries(value) : undefined;
  } catch {
    return undefined; // the client gets an error that the body is not JSON
  }
};

const collect = (entries: readonly [string, unknown][]): TokenParameters | Misread => {
  const parameters = new Map<string, string>();
  for (const [name, value] of entries) {
    if (value === null || value === '') continue; // RFC 6749 treats it as omitted
    if (typeof value !== 'string') return { error: 'a parameter is not a text' };
    if (parameters.has(name)) return { error: 'a parameter is there twice' };
    parameters.set(name, value);
  }
  return parameters;
};

/** Reads the parameters of a body. A body without a content type counts as a form. */
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

/** Returns a part of Basic credentials both as sent and form-decoded, since not all clients form-encode the parts. */
const spellings = (part: string): string[] => {
  try {
    return [part, decodeURIComponent(part.replaceAll('+', ' '))];
  } catch {
    return [part]; // not encoded
  }
};

const basicSecrets = (authorization: string): string[] | undefined => {
  const [, encoded] = /^basic +(\S+)$/i.exec(authorization.trim()) ?? [];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon === -1 ? [] : spellings(decoded.slice(colon + 1));
};

/** Returns the texts that may be the client's secret; none if it sent no secret. */
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
