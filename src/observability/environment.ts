/** Normalizes the environment that a trace or an observation ran in to a short lower-case word. */

export const usualEnvironment = 'default';

const mostChars = 40;

/**
 * Returns the environment to store: lower case, without a leading `langfuse`, at most 40 characters. A value that does
 * not fit becomes `default`, because no event is refused for its environment.
 */
export const normalizeEnvironment = (given: unknown): string => {
  if (typeof given !== 'string') return usualEnvironment;
  const word = given
    .trim()
    .toLowerCase()
    .replace(/^langfuse[-_]?/, '')
    .slice(0, mostChars);
  return /^[a-z0-9_-]+$/.test(word) ? word : usualEnvironment;
};
