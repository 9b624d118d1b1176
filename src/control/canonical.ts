/** One text for one JSON value, whatever the order of its keys: what hashes of requests are made of. */
import { createHash } from 'node:crypto';

const sortKeys = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** SHA-256, in hex, of a JSON value. */
export const hashOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value, sortKeys) ?? '')
    .digest('hex');
