/**
 * World and its versions. A version is immutable: a manifest of content-addressed files, the compiled contract and a
 * snapshot of the base rows, all named by digests.
 */

import { isId } from './id.ts';

/** Digest of a blob's bytes: `sha256:<64 hex>`. */
export type Digest = `sha256:${string}`;

const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** Returns true if a text may be a world's slug: 1 to 64 lower-case letters, digits and inner hyphens. */
export const isSlug = (text: string): boolean => slugPattern.test(text);

const labelPattern = /^[a-z](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;

/** Reserved labels: two other names of the head version, and a word of the API. */
const takenLabels = ['latest', 'head', 'missing'];

/** Returns true if a text may be a label of a version: it must not be a version's id or a reserved name. */
export const isLabel = (text: string): boolean =>
  labelPattern.test(text) && !takenLabels.includes(text) && !isId('ver', text);

/** One file of a world tree: a relative path with `/`, and its bytes. */
export type TreeFile = { path: string; content: Uint8Array };

export type VersionState = 'READY';

/** States of a version whose tests have to pass before the version becomes the head of its world. */
export const gateStates = ['waiting', 'passed', 'failed', 'outdated'] as const;
export type GateState = (typeof gateStates)[number];

/** Operations that make a version; each of them changes files, rows or both. */
export const versionOrigins = ['create', 'push', 'import', 'publish', 'link'] as const;
export type VersionOrigin = (typeof versionOrigins)[number];

/** A resolved link of a version to a version of another world. */
export type VersionLink = {
  alias: string;
  /** Version of the other world. */
  versionId: string;
  /** Number of that version among the versions of its world. */
  number: number;
  /** Tools of the other world that sessions serve, as `<alias>.<tool>`. */
  tools: string[];
};
