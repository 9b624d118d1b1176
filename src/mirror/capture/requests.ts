/** Requests of operations: arguments put into path and query, and the key by which a request is known again. */
import { hash } from 'node:crypto';
import type { Row, VendorContract, VendorOperation } from '#language/contract.ts';
import { restArguments, writePath } from '#language/path-segments.ts';

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Path and query of a request. A list is given as a repeated key, `[]` or not as the vendor has it. */
export const requestPath = (
  { segments, params }: Pick<VendorOperation, 'segments' | 'params'>,
  given: Row,
  cursor?: { param: string; value: string },
): string => {
  const rest = restArguments(segments);
  const path = writePath(segments, (name) => {
    const value = given[name];
    // Of an argument that is not known, or not kept, the name stands in its place.
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

/** The address of a request at the vendor. */
export const requestUrl = (
  { baseUrl }: Pick<VendorContract, 'baseUrl'>,
  operation: Pick<VendorOperation, 'segments' | 'params'>,
  given: Row,
  cursor?: { param: string; value: string },
): URL => new URL(baseUrl + requestPath(operation, given, cursor));

/** Names a request without telling its arguments: the same one has the same key in every run. */
export const requestKey = (slug: string, operation: string, given: Row, page: number): string => {
  const sorted = Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1));
  return hash('sha256', JSON.stringify([slug, operation, sorted, page])).slice(0, 24);
};
