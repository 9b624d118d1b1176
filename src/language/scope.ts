/**
 * OAuth scopes as text. Connectors and clients write lists of them as their vendor does: with spaces,
 * as the standard has it, or with commas.
 */

/** The names in a list of scopes, each once, in its order. */
export const scopesOf = (text: string | null): string[] => [
  ...new Set((text ?? '').split(/[\s,]+/).filter((name) => name !== '')),
];
