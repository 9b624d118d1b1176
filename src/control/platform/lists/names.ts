/**
 * Names of datasets, runs and prompts: one line of any text, in which slashes separate folders. Clients put names into
 * URLs, and some clients escape them twice. So if a name is not found, it is unescaped once more and looked up again.
 */
import { AppError } from '#domain/error.ts';

/** Maximum length of a name, in characters. */
export const mostNameChars = 500;

const problemOf = (name: string): string | undefined => {
  if (name === '') return 'must not be empty';
  if (name.length > mostNameChars) return `must have at most ${mostNameChars} characters`;
  if (/\p{Cc}/u.test(name)) return 'must have no control characters';
  if (!name.isWellFormed()) return 'must be well-formed text';
  if (/<[^>]*>/.test(name)) return 'must have no HTML in it';
  if (name.startsWith('/') || name.endsWith('/') || name.includes('//')) {
    return 'must not begin or end with a slash, nor have two in a row';
  }
  return undefined;
};

/** Returns the name to store, without spaces at its ends. Throws `invalid` if the name is not allowed. */
export const readName = (field: string, given: string): string => {
  const name = given.trim();
  const message = problemOf(name);
  if (message === undefined) return name;
  throw new AppError('invalid', `invalid request: ${field} ${message}`, {
    fields: [{ path: [field], message }],
  });
};

const unescapeOnce = (name: string): string => {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a percent sign that escapes nothing
  }
};

/** Finds an object by its name. If there is none, unescapes the name once more and looks again. */
export const findNamed = async <Found>(
  name: string,
  find: (name: string) => Promise<Found | undefined>,
): Promise<Found | undefined> => {
  if (name.includes('\0')) return undefined;
  const found = await find(name.toWellFormed().trim());
  const again = unescapeOnce(name);
  if (found !== undefined || again === name || again.includes('\0')) return found;
  return find(again.trim());
};
