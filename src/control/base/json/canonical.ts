/** Canonical JSON: one text for one value, whatever the order of its keys. Hashes of requests are computed from it. */
import { createHash } from 'node:crypto';

/** Returns the JSON of a value with its keys sorted; members that JSON omits are omitted. */
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
 * Returns `sha256:…` of a task's spec without its name, which a stored task keeps apart. So a task has the same hash
 * whether it is bundled, inline or stored.
 */
export const hashOfSpec = (spec: object): string => {
  const { name: _, ...rest } = spec as { name?: unknown };
  return `sha256:${hashOf(rest)}`;
};
