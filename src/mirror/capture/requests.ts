/**
 * Builds requests of operations: it puts arguments into path and query, and derives the key that identifies a request.
 */
import { hash } from 'node:crypto';
import type { Row, VendorContract, VendorOperation } from '#language/contract.ts';
import { restArguments, writePath } from '#language/path-segments.ts';

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/**
 * Returns the path and query of a request. A list becomes a repeated key, with or without `[]` as the vendor requires.
 */
export const requestPath = (
  { segments, params }: Pick<VendorOperation, 'segments' | 'params'>,
  given: Row,
  cursor?: { param: string; value: string },
): string => {
  const rest = restArguments(segments);
  const path = writePath(segments, (name) => {
    const value = given[name];
    // The name stands in place of an argument that is unknown, or was not kept.
    if (value === undefined) return `{${name}}`;
    const text = textOf(value);
    return rest.includes(name)
      ? text.split('/').map(encodeURIComponent).join('/')
      : encodeURIComponent(text);
  });
  const query = new URLSearchParams();
  for (const { name } of params) {
    const value = given[name];
    if (value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value]) query.append(name, textOf(item));
  }
  if (cursor !== undefined) query.set(cursor.param, cursor.value);
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
};

/** Returns the address of a request at the vendor. */
export const requestUrl = (
  { baseUrl }: Pick<VendorContract, 'baseUrl'>,
  operation: Pick<VendorOperation, 'segments' | 'params'>,
  given: Row,
  cursor?: { param: string; value: string },
): URL => new URL(baseUrl + requestPath(operation, given, cursor));

/** Returns a key that identifies a request without revealing its arguments; it is the same in every run. */
export const requestKey = (slug: string, operation: string, given: Row, page: number): string => {
  const sorted = Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1));
  return hash('sha256', JSON.stringify([slug, operation, sorted, page])).slice(0, 24);
};
