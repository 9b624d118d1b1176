/** The environment that something ran in, as a word of a few small letters. */

export const usualEnvironment = 'default';

const mostChars = 40;

/**
 * The word that is kept: in small letters, without a leading `langfuse`, at most 40 characters. What is no such word
 * is `default`: an environment never refuses an event.
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
