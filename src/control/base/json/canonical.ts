/**
 * Canonical JSON: equal values have the same text, whatever the order of their keys. Hashes of requests are computed
 * from it.
 */
import { createHash } from 'node:crypto';

/** Returns the JSON of a value with sorted keys. Members that `JSON.stringify` omits are omitted. */
export const canonicalText = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  const held = value as Readonly<Record<string, unknown>>;
  const members = Object.keys(held)
    .filter((key) => held[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalText(held[key])}`);
  return `{${members.join()}}`;
};

/** Returns the SHA-256 of a JSON value, in hex. */
export const hashOf = (value: unknown): string =>
  createHash('sha256').update(canonicalText(value)).digest('hex');

/**
 * Returns the hash of a task's spec without its name, in the form `sha256:…`. A stored task has its name in a separate
 * column, so a task has the same hash whether it is bundled, inline or stored.
 */
export const hashOfSpec = (spec: object): string => {
  const { name: _, ...rest } = spec as { name?: unknown };
  return `sha256:${hashOf(rest)}`;
};
