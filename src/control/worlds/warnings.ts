/** What a world's contract says that its sessions do not have yet, for its author to be warned of. */
import type { Contract } from '#language/contract.ts';

const quote = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** What of the world will be missing from its sessions, a sentence each. */
export const warningsOf = ({ dependencies, onPush, tasks, ui, webhooks }: Contract): string[] => {
  const narrowed = tasks.filter(({ tools }) => tools !== null).map(({ name }) => name);
  const linked = dependencies.map(({ alias }) => alias);
  const warnings: [isMissing: boolean, sentence: string][] = [
    [ui !== null, 'the surface "ui" is not served yet'],
    [webhooks !== null, 'webhooks are noted in the request ledger, but not sent yet'],
    [linked.length > 0, `linked worlds are not opened along yet: ${quote(linked)}`],
    [onPush.length > 0, 'tests are not run on a push yet'],
    [narrowed.length > 0, `tasks with tools of their own still get all tools: ${quote(narrowed)}`],
  ];
  return warnings.filter(([isMissing]) => isMissing).map(([, sentence]) => sentence);
};
