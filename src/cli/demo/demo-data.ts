/**
 * Data of the demo: the world, its bundled task, and the agent's work on issue 157. Only this file depends on
 * particular rows of the template.
 */
export const worldSlug = 'code-hosting';
export const taskName = 'close-duplicate';

/** Repository of the task. */
export const repository = { owner: 'northquay', repo: 'berth' } as const;

/** Numbers of the issue that is a duplicate, and of the issue that it duplicates. */
export const duplicate = 157;
export const original = 139;

export const label = 'duplicate';
export const comment = `Duplicate of #${original}`;

/** Names of the checks that pass from the start, because they forbid unwanted changes. */
export const checksHeldFromTheStart = [
  'the original, #139, is still open',
  'no other open issue was closed',
  'no other open issue was labelled as a duplicate',
  'nothing else changed',
] as const;

/** Names of the checks that pass only after the agent's work. */
export const checksOfTheWork = [
  '#157 is labelled as a duplicate',
  'a comment on #157 names the original, #139',
  '#157 is closed as not planned',
  '#157 is commented on, and not flooded',
] as const;
