/**
 * Conditional requests: a validator (`ETag`) for the good answers of GET, and 304 for a client that has
 * the answer already. A handler that sends a validator of its own knows better.
 */
import { hash } from 'node:crypto';
import type { ApiAnswer } from './answer.ts';

/** Weak: it names what is answered, whatever a proxy makes of the bytes. */
const validatorOf = (body: string): string => `W/"${hash('sha1', body, 'base64url')}"`;

const ownValidator = ({ headers }: ApiAnswer): string | undefined => {
  const name = Object.keys(headers).find((header) => header.toLowerCase() === 'etag');
  return name === undefined ? undefined : headers[name];
};

const opaque = (validator: string): string => validator.trim().replace(/^W\//, '');

/** Weak comparison, as the condition `If-None-Match` asks for. */
const isKnown = (validator: string, ifNoneMatch: string): boolean => {
  if (ifNoneMatch.trim() === '*') return true;
  const wanted = opaque(validator);
  const known = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return known.some((candidate) => opaque(candidate) === wanted);
};

/** The answer with its validator, or 304 in its place. */
export const answerConditionally = (
  answer: ApiAnswer,
  method: string,
  ifNoneMatch: string | undefined,
): ApiAnswer => {
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead || answer.status !== 200 || answer.body === null) return answer;
  const own = ownValidator(answer);
  const validator = own ?? validatorOf(answer.body);
  const headers = own === undefined ? { ...answer.headers, etag: validator } : answer.headers;
  return ifNoneMatch !== undefined && isKnown(validator, ifNoneMatch)
    ? { ...answer, headers, status: 304, body: null }
    : { ...answer, headers };
};
