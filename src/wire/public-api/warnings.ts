/**
 * What the author of a world is warned of: what its contract says that its sessions do not have yet,
 * and what the language itself takes for a slip. The service says it of a world that it made, the CLI of
 * one that it checks.
 */
import type { Contract } from '#language/contract.ts';

/** A sentence each; those of the language are found where worlds are compiled. */
export const warningsOf = (contract: Contract, ofLanguage: readonly string[]): string[] => {
  const { onPush, webhooks } = contract;
  const warnings: [isMissing: boolean, sentence: string][] = [
    [webhooks !== null, 'webhooks are noted in the request ledger, but not sent yet'],
    [onPush.length > 0, 'tests are not run on a push yet'],
  ];
  const missing = warnings.filter(([isMissing]) => isMissing).map(([, sentence]) => sentence);
  return [...ofLanguage, ...missing];
};
