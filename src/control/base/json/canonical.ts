/** One text for one JSON value, whatever the order of its keys: what hashes of requests are made of. */
import { createHash } from 'node:crypto';

/** The value's JSON with keys in order; what JSON leaves out is left out. */
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

/** SHA-256, in hex, of a JSON value. */
export const hashOf = (value: unknown): string =>
  createHash('sha256').update(canonicalText(value)).digest('hex');

/**
 * `sha256:…` of a task's spec without its name, which a stored task has beside it: so a task has one hash, whether it is
 * bundled, given inline or stored.
 */
export const hashOfSpec = (spec: object): string => {
  const { name: _, ...rest } = spec as { name?: unknown };
  return `sha256:${hashOf(rest)}`;
};
