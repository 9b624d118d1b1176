/**
 * The mode `hash`: a value becomes `sha256:<64 hex>`, the SHA-256 of `<slug>:<value>`. Equal plaintexts
 * of one slug have equal digests, so exact lookups and joins go on working; another slug gives others.
 */
import { hash } from 'node:crypto';

const digestPattern = /^sha256:[0-9a-f]{64}$/;

/** Whether a value is written the way `hash` writes it. What it was made of cannot be told. */
export const isDigest = (value: unknown): boolean =>
  typeof value === 'string' && digestPattern.test(value);

/**
 * The digest of a text, exactly as given, or of a number or boolean as JSON writes it: `7` and `"7"`
 * have the same one. Null holds nothing and stays; a digest stays too, so that hashing twice is
 * hashing once.
 */
export const digestScalar = (slug: string, value: unknown): unknown =>
  value === null || value === undefined || isDigest(value)
    ? value
    : `sha256:${hash('sha256', `${slug}:${value}`)}`;
