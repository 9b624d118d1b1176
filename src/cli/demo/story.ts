/**
 * The story that the demo plays, as data: the world, its bundled task, and what the agent has to do
 * about issue 157. It is the only place that knows the rows of the template.
 */
export const worldSlug = 'code-hosting';
export const taskName = 'close-duplicate';

/** The repository that the task is about. */
export const repository = { owner: 'northquay', repo: 'berth' } as const;

/** The issue that repeats another, and the one that it repeats. */
export const duplicate = 157;
export const original = 139;

export const label = 'duplicate';
export const comment = `Duplicate of #${original}`;

/** Checks of the task that hold from the start: what must not happen. */
export const checksHeldFromTheStart = [
  'the original, #139, is still open',
  'no other open issue was closed',
  'no other open issue was labelled as a duplicate',
  'nothing else changed',
] as const;

/** Checks that only the work fulfils. */
export const checksOfTheWork = [
  '#157 is labelled as a duplicate',
  'a comment on #157 names the original, #139',
  '#157 is closed as not planned',
  '#157 is commented on, and not flooded',
] as const;
