/**
 * Conditional requests: a validator (`ETag`) for the good answers of GET, the time of the last change where
 * the route knows it, and 304 for a client that has the answer already. A handler that sends one of its own
 * knows better.
 */

import { hash } from 'node:crypto';
import { own } from '#domain/json.ts';
import type { RouteContract, Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { type ApiAnswer, bodyValue } from './answer.ts';

/** Weak: it names what is answered, whatever a proxy makes of the bytes. */
const validatorOf = (body: string): string => `W/"${hash('sha1', body, 'base64url')}"`;

/** A header that the answer has by itself; `name` is in lower case. */
const ownHeader = ({ headers }: ApiAnswer, name: string): string | undefined => {
  const found = Object.keys(headers).find((header) => header.toLowerCase() === name);
  return found === undefined ? undefined : headers[found];
};

const opaque = (validator: string): string => validator.trim().replace(/^W\//, '');

/** Weak comparison, as the condition `If-None-Match` asks for. */
const isKnown = (validator: string, ifNoneMatch: string): boolean => {
  if (ifNoneMatch.trim() === '*') return true;
  const wanted = opaque(validator);
  const known = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return known.some((candidate) => opaque(candidate) === wanted);
};

/** As HTTP writes times: of a text that names one, or of seconds since 1970. */
const httpDate = (value: unknown): string | undefined => {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const date = new Date(typeof value === 'number' ? value * 1_000 : value);
  return Number.isNaN(date.getTime()) ? undefined : date.toUTCString();
};

/** When the object that is answered was last changed, where the route says which field knows. */
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

/** Whether the client has the answer; a validator says more than a time, where it names both. */
const isHeld = (
  { 'if-none-match': tags, 'if-modified-since': since }: Conditions,
  validator: string,
  modified: string | undefined,
): boolean => {
  if (tags !== undefined) return isKnown(validator, tags);
  return since !== undefined && modified !== undefined && isUnchanged(modified, since);
};

/** The answer with its validators, or 304 in its place. `conditions` are the headers of the request. */
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
