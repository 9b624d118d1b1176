/** The write modes of redaction, and which worlds have them; what they do to rows is in `capture/redaction.ts`. */
import type { Contract } from './contract.ts';

/** What becomes of rows by the world's `[redact]` before anything else looks at them. */
export const redactionModes = ['off', 'apply', 'refuse'] as const;
export type RedactionMode = (typeof redactionModes)[number];

/**
 * Why rows cannot be written with a mode: `apply` and `refuse` need a `connector.toml`, whether or not that redacts
 * anything. Undefined when they can.
 */
export const redactionLack = (
  { api }: Pick<Contract, 'api'>,
  mode: RedactionMode,
): string | undefined =>
  mode === 'off' || api !== null
    ? undefined
    : `the world has no connector.toml, so there is no redaction policy to ${mode === 'apply' ? 'apply' : 'hold rows to'}; leave "redact" out, or give the world a connector.toml with [redact]`;
