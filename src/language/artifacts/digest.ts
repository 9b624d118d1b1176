/** Digests of bytes and of JSON values. */

import { hash } from 'node:crypto';
import { compareTexts } from '#domain/tree-path.ts';
import type { Digest } from '#domain/world.ts';
import { isTable } from '../read/values.ts';

/** Returns `sha256:<64 hex>` of bytes, or of a text in UTF-8. */
export const digestOf = (content: Uint8Array | string): Digest =>
  `sha256:${hash('sha256', content)}`;

const sortKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isTable(value)) return value;
  const names = Object.keys(value).sort(compareTexts);
  return Object.fromEntries(names.map((name) => [name, sortKeys(value[name])]));
};

/** Returns the digest of a JSON value. It does not depend on the order of keys. */
export const digestOfValue = (value: unknown): Digest =>
  digestOf(JSON.stringify(sortKeys(value)) ?? '');
