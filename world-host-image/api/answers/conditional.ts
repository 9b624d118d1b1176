/**
 * Handles conditional requests: adds `ETag`, and `Last-Modified` if the route declares a field for it, to successful
 * answers of GET. Answers 304 if the client already has the content. Headers that a handler sets itself are not
 * replaced.
 */

import { hash } from 'node:crypto';
import { own } from '#domain/json.ts';
import type { RouteContract, Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { type ApiAnswer, bodyValue } from './answer.ts';

/** Returns a weak validator (`ETag`): it identifies the content, and stays valid if a proxy re-encodes the bytes. */
const validatorOf = (body: string): string => `W/"${hash('sha1', body, 'base64url')}"`;

/** Returns a header that the answer already has; `name` is in lower case. */
const ownHeader = ({ headers }: ApiAnswer, name: string): string | undefined => {
  const found = Object.keys(headers).find((header) => header.toLowerCase() === name);
  return found === undefined ? undefined : headers[found];
};

const opaque = (validator: string): string => validator.trim().replace(/^W\//, '');

/** Returns true if `If-None-Match` contains the validator, by weak comparison. */
const isKnown = (validator: string, ifNoneMatch: string): boolean => {
  if (ifNoneMatch.trim() === '*') return true;
  const wanted = opaque(validator);
  const known = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return known.some((candidate) => opaque(candidate) === wanted);
};

/** Returns an HTTP date for a date string or for seconds since 1970; undefined if the value is neither. */
const httpDate = (value: unknown): string | undefined => {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const date = new Date(typeof value === 'number' ? value * 1_000 : value);
  return Number.isNaN(date.getTime()) ? undefined : date.toUTCString();
};

/**
 * Returns the time of the answered object's last change; undefined unless the route declares a field that contains it.
 */
const modifiedAt = (
  { envelope, lastModified }: RouteContract,
  answer: ApiAnswer,
): string | undefined => {
  if (lastModified === undefined || !answer.body?.startsWith('{')) return undefined;
  const body = bodyValue(answer) as Row;
  const object = envelope === '' ? body : (own(body, envelope) ?? body);
  return httpDate(valueAtPath(object as Row, lastModified));
};

const isUnchanged = (lastModified: string, ifModifiedSince: string): boolean =>
  Date.parse(lastModified) <= Date.parse(ifModifiedSince);

type Conditions = Readonly<Record<string, string>>;

/**
 * Returns true if the client already has the content. If the request has both `If-None-Match` and `If-Modified-Since`,
 * only `If-None-Match` counts.
 */
const isHeld = (
  { 'if-none-match': tags, 'if-modified-since': since }: Conditions,
  validator: string,
  modified: string | undefined,
): boolean => {
  if (tags !== undefined) return isKnown(validator, tags);
  return since !== undefined && modified !== undefined && isUnchanged(modified, since);
};

/**
 * Returns the answer with its validators, or a 304 if the client already has the content. `conditions` are the
 * request's headers.
 */
export const answerConditionally = (
  route: RouteContract,
  answer: ApiAnswer,
  method: string,
  conditions: Conditions,
): ApiAnswer => {
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead || answer.status !== 200 || answer.body === null) return answer;
  const { once = {} } = answer;
  const own = ownHeader(answer, 'etag');
  if (own === undefined) once.validator ??= validatorOf(answer.body);
  const validator = own ?? once.validator ?? '';
  const ownModified = ownHeader(answer, 'last-modified');
  if (once.modified === undefined) once.modified = modifiedAt(route, answer) ?? null;
  const modified = ownModified ?? once.modified ?? undefined;
  const headers = {
    ...answer.headers,
    ...(own === undefined ? { etag: validator } : {}),
    ...(ownModified === undefined && modified !== undefined ? { 'last-modified': modified } : {}),
  };
  return isHeld(conditions, validator, modified)
    ? { ...answer, headers, status: 304, body: null }
    : { ...answer, headers };
};
