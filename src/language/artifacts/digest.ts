/** Digests of bytes and of JSON values. */

import { createHash } from 'node:crypto';
import { compareTexts } from '#domain/tree-path.ts';
import type { Digest } from '#domain/world.ts';
import { isTable } from '../read/values.ts';

/** `sha256:<64 hex>` of bytes, or of a text in UTF-8. */
export const digestOf = (content: Uint8Array | string): Digest =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

const sortKeys = (_: string, value: unknown): unknown =>
  isTable(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => compareTexts(a, b)))
    : value;

/** The digest of a JSON value: one for all orders of its keys. */
export const digestOfValue = (value: unknown): Digest =>
  digestOf(JSON.stringify(value, sortKeys) ?? '');
