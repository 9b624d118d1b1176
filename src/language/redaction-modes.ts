/** Write modes of redaction, and the worlds that support them; `capture/redaction.ts` applies the modes to rows. */
import type { Contract } from './contract.ts';

/** Treatment of rows by the world's `[redact]` before any other processing. */
export const redactionModes = ['off', 'apply', 'refuse'] as const;
export type RedactionMode = (typeof redactionModes)[number];

/**
 * Returns why a world does not support a mode; undefined if it does. `apply` and `refuse` need a `connector.toml`, even
 * if that file redacts nothing.
 */
export const redactionLack = (
  { api }: Pick<Contract, 'api'>,
  mode: RedactionMode,
): string | undefined =>
  mode === 'off' || api !== null
    ? undefined
    : `the world has no connector.toml, so there is no redaction policy to ${mode === 'apply' ? 'apply' : 'check rows against'}; leave "redact" out, or give the world a connector.toml with [redact]`;
